#include "tools/validation/profiled_passes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

MeasuredRow PassRow(const std::string& metric, const std::string& order) {
  MeasuredRow row = Gpt();
  row.id = metric;
  row.model = "GPT-tiny";
  row.schedule = order;
  row.zero = "0";
  row.overlap_grad_reduce = "no";
  row.metric = metric;
  row.metric_kind = "context";
  row.value = 1e-3;
  row.is_scored = false;
  return row;
}

class ProfiledPassesTest : public ::testing::Test {
 protected:
  const AnalyticalModel model_;
  const PredictionBasis basis_ = {StackTable::Embedded(), RowFactTable::Embedded(), model_};
};

// Four micro-batches of two replicas pass through each stage, one after another.
TEST_F(ProfiledPassesTest, PassesOfAStageFillItsStep) {
  std::vector<MeasuredRow> rows;
  for (const char* metric : {"profiled_T_F", "profiled_T_B", "profiled_T_W"}) {
    rows.push_back(PassRow(metric, "zb-h1"));
  }
  const std::vector<ProfiledPass> passes = PredictPasses(rows, basis_);
  ASSERT_EQ(passes.size(), 3u);
  double all = 0;
  for (const ProfiledPass& pass : passes) {
    ASSERT_TRUE(pass.predicted.has_value()) << pass.reason;
    EXPECT_GT(*pass.predicted, 0) << pass.metric;
    EXPECT_EQ(pass.measured, 1e-3);
    all += *pass.predicted;
  }
  MeasuredRow step = PassRow("step_time", "zb-h1");
  step.metric_kind = "step_time";
  step.is_scored = true;
  const Prediction whole = PredictRow(step, basis_);
  ASSERT_TRUE(whole.value.has_value()) << whole.reason;
  constexpr int kMicroBatches = 32 / 2;
  EXPECT_LT(kMicroBatches * all, *whole.value);
  EXPECT_GT(kMicroBatches * all, 0.5 * *whole.value);
}

TEST_F(ProfiledPassesTest, OtherRowsAreLeftOutAndMissingPassesHaveAReason) {
  MeasuredRow unknown = PassRow("profiled_T_comm", "zb-h1");
  MeasuredRow unstated = PassRow("profiled_T_F", "zb-h1");
  unstated.value = 0;
  const std::vector<MeasuredRow> rows = {unknown, unstated, PassRow("profiled_T_W", "1f1b")};
  const std::vector<ProfiledPass> passes = PredictPasses(rows, basis_);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_FALSE(passes[0].predicted.has_value());
  EXPECT_EQ(passes[0].reason, "its pipeline schedule has no such pass");
  EXPECT_TRUE(PassesToJson(passes)[0]["predicted"].is_null());
}

TEST_F(ProfiledPassesTest, RowsOfOneNetworkArePrintedAsTheirMean) {
  const std::vector<ProfiledPass> passes = {{"a", "GPT", "profiled_T_F", 1e-3, 1e-3, ""},
                                            {"b", "GPT", "profiled_T_F", 3e-3, 4e-3, ""},
                                            {"c", "GPT", "profiled_T_B", 1e-3, std::nullopt, "x"}};
  std::ostringstream out;
  PrintPasses(passes, out);
  EXPECT_NE(out.str().find("profiled_T_F      2        2.000        2.500   25.0 %\n"),
            std::string::npos)
      << out.str();
  EXPECT_EQ(out.str().find("profiled_T_B"), std::string::npos);
  std::ostringstream none;
  PrintPasses({}, none);
  EXPECT_EQ(none.str(), "");
}

}  // namespace
}  // namespace stagecraft
