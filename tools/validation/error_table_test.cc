#include "tools/validation/error_table.h"

#include <gtest/gtest.h>

#include "tools/validation/baselines.h"

namespace stagecraft {
namespace {

ValidatedRow Row(double predicted, double measured, const std::string& group = "") {
  ValidatedRow row;
  row.measured.source = "paper";
  row.measured.metric_kind = "step_time";
  row.measured.value = measured;
  row.measured.group = group;
  row.prediction.value = predicted;
  return row;
}

TEST(ErrorTableTest, PercentilesAreLinear) {
  EXPECT_DOUBLE_EQ(Percentile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(Percentile({0, 10}, 0.9), 9);
  EXPECT_DOUBLE_EQ(Percentile({7}, 0.9), 7);
}

TEST(ErrorTableTest, SpearmanIsOfRanksWithTiesAtTheirMean) {
  EXPECT_DOUBLE_EQ(Spearman({1, 2, 300}, {4, 5, 6}).value(), 1);
  EXPECT_DOUBLE_EQ(Spearman({3, 2, 1}, {4, 5, 6}).value(), -1);
  // ranks 1.5 1.5 3 and 1 2 3: 1.5 / sqrt(1.5 · 2)
  EXPECT_NEAR(Spearman({1, 1, 2}, {1, 2, 3}).value(), 0.8660254, 1e-7);
  EXPECT_DOUBLE_EQ(Spearman({5, 5}, {1, 2}).value(), 0);
  EXPECT_FALSE(Spearman({1, 2}, {5, 5}).has_value());
}

TEST(ErrorTableTest, ErrorsAreOverPrimaryRowsCoverageOverAll) {
  std::vector<ValidatedRow> rows = {Row(1.1, 1), Row(0.7, 1), Row(9, 1), Row(9, 1)};
  rows[2].measured.is_primary = false;
  rows[3].prediction.value.reset();
  const ErrorStats stats = SummarizeBy(rows, true, true).at(0);
  EXPECT_EQ(stats.source, "paper");
  EXPECT_EQ(stats.rows, 4);
  EXPECT_EQ(stats.simulated, 3);
  EXPECT_EQ(stats.counted, 2);
  EXPECT_NEAR(*stats.mape, 20, 1e-9);
  EXPECT_NEAR(*stats.median_ape, 20, 1e-9);
  EXPECT_NEAR(*stats.p90_ape, 28, 1e-9);
  EXPECT_NEAR(*stats.bias, -10, 1e-9);
  EXPECT_FALSE(stats.spearman.has_value());
}

// The row predicted best took 2 where the best took 1: 100 % regret.
TEST(ErrorTableTest, GroupsOfFourAreRanked) {
  const std::vector<ValidatedRow> rows = {Row(1, 2, "g"), Row(2, 1, "g"), Row(3, 3, "g"),
                                          Row(4, 4, "g"), Row(1, 1, "h")};
  const ErrorStats stats = SummarizeBy(rows, false, false).at(0);
  EXPECT_NEAR(*stats.spearman, 0.8, 1e-12);
  EXPECT_NEAR(*stats.regret, 100, 1e-9);
}

TEST(ErrorTableTest, RatesAreBetterWhenGreater) {
  std::vector<ValidatedRow> rows = {Row(4, 2, "g"), Row(3, 4, "g"), Row(2, 1, "g"), Row(1, 1, "g")};
  for (ValidatedRow& row : rows) row.measured.metric_kind = "tokens_per_s";
  EXPECT_NEAR(*SummarizeBy(rows, false, false).at(0).regret, 100, 1e-9);
}

StepFeatures Features(double flops) {
  StepFeatures step;
  step.model_flops = flops;
  step.peak_flop_per_s = 100;
  step.layers = step.hidden = step.sequence = step.global_batch = 8;
  step.devices = step.tp = step.pp = 1;
  return step;
}

// Every other source runs at half the peak; step time is FLOPs / 50.
TEST(BaselinesTest, LearnFromOtherSourcesAlone) {
  std::vector<ValidatedRow> rows;
  for (int i = 1; i <= 20; ++i) {
    rows.push_back(Row(1, i * 2.0));
    rows.back().prediction.step = Features(i * 100.0);
  }
  rows.push_back(Row(1, 1000));
  rows.back().measured.source = "other";
  rows.back().prediction.step = Features(500);
  AddBaselines(rows);
  EXPECT_NEAR(*rows.back().constant_rate, 10, 1e-9);
  EXPECT_NEAR(*rows.back().ridge, 10, 1);
  // Nothing but one row to learn from.
  EXPECT_FALSE(rows.front().constant_rate.has_value());
}

}  // namespace
}  // namespace stagecraft
