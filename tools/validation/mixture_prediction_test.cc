// Tests predictions of rows of mixtures of experts, whose networks are built by their names.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "costmodel/analytical_model.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

Prediction Predict(const MeasuredRow& row) {
  const AnalyticalModel model;
  return PredictRow(row, {StackTable::Embedded(), RowFactTable::Embedded(), model});
}

bool Uses(const Prediction& prediction, const std::string& what) {
  const auto& used = prediction.defaults_used;
  return std::find(used.begin(), used.end(), what) != used.end();
}

// Table and head have 2 x 4096 numbers for each of 256,000 - 32,000 further words, of 18 bytes each
// with their gradients and optimizer states: 33 GB, and the logits come on top.
TEST(MixturePredictionTest, AMixtureHasTheVocabularyThatItsRowStates) {
  MeasuredRow row = Gpt();
  row.model_kind = "moe";
  row.model = "Mixtral 8x7B";
  row.layers = 2;
  row.hidden = 4096;
  row.heads = 32;
  row.micro_batch = 1;
  row.tp = row.pp = 1;
  row.dp = row.n_gpus = row.ep = 8;
  row.n_nodes = 1;
  row.zero = "0";
  row.metric_kind = "peak_memory_allocated";
  row.rank = "max";
  const Prediction own = Predict(row);
  ASSERT_TRUE(own.value.has_value()) << own.reason;
  EXPECT_TRUE(Uses(own, "network mixtral-8x7b"));
  row.vocab = 32000;
  EXPECT_EQ(Predict(row).value, own.value);
  row.vocab = 256000;
  const double larger = *Predict(row).value - *own.value;
  EXPECT_GT(larger, 18.0 * 2 * 4096 * (256'000 - 32'000));
  EXPECT_LT(larger, 1.3 * 18.0 * 2 * 4096 * (256'000 - 32'000));
  row.vocab = 31'999;
  EXPECT_TRUE(Uses(Predict(row), "vocab padded to 32000"));
}

}  // namespace
}  // namespace stagecraft
