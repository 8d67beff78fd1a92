// Tests of predictions with and without the facts that were inferred from the scored rows.
#include <gtest/gtest.h>

#include <string>

#include "costmodel/analytical_model.h"
#include "costmodel/scaled_model.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

Prediction PredictKnowing(const MeasuredRow& row, const RowFactTable& facts) {
  const AnalyticalModel model;
  return PredictRow(row, {StackTable::Embedded(), facts, model});
}

// For every fact that can be inferred from rows, the value without it is the value that a table
// without this fact gives.
TEST(InferredPredictionTest, FactsThatTheRowsGaveAwayArePredictedWithAndWithout) {
  const RowFactTable nothing;
  for (const char* facts :
       {"vocabulary: 32000", "attention: \"unfused\"", "gradient_bytes: 2", "prints_gib: true",
        "passes_only: true", "counts_every_rank: true", "deterministic: true", "qk_norm: true",
        "post_validation: true", "vocabulary: 1000 gradient_bytes: 2"}) {
    const std::string entry = std::string("rows { source: \"paper\" facts { ") + facts + " }";
    const RowFactTable stated = RowFactTable::Parse(entry + " origin: \"a paper\" }", "t");
    const RowFactTable inferred = RowFactTable::Parse(
        entry + " inferred_from_scored_rows: true origin: \"assumption: it fits\" }", "t");
    for (const char* kind : {"step_time", "samples_per_s", "peak_memory_allocated"}) {
      MeasuredRow row = Gpt();
      row.metric_kind = kind;
      row.rank = "max";
      const Prediction marked = PredictKnowing(row, inferred);
      ASSERT_TRUE(marked.value.has_value()) << facts << ": " << marked.reason;
      EXPECT_EQ(marked.value, PredictKnowing(row, stated).value) << facts;
      EXPECT_EQ(marked.value_without, PredictKnowing(row, nothing).value) << facts;
      ASSERT_EQ(marked.inferred.size(), 1u) << facts;
      EXPECT_EQ(marked.inferred[0].facts.origin, "assumption: it fits");
      EXPECT_EQ(marked.inferred[0].value_without, marked.value_without) << facts;
      const Prediction unmarked = PredictKnowing(row, stated);
      EXPECT_TRUE(unmarked.inferred.empty()) << facts;
      EXPECT_FALSE(unmarked.value_without.has_value()) << facts;
    }
  }
}

// Since two facts may make up for each other, each is also left out alone.
TEST(InferredPredictionTest, EachOfTwoFactsThatTheRowsGaveAwayIsLeftOutAlone) {
  const std::string vocabulary = "rows { facts { vocabulary: 1000 } ";
  const std::string attention = "rows { facts { attention: \"unfused\" } ";
  const std::string mark = "inferred_from_scored_rows: true origin: \"it fits\" }";
  const MeasuredRow row = Gpt();
  const auto value = [&](const std::string& table) {
    return PredictKnowing(row, RowFactTable::Parse(table, "t")).value;
  };
  const Prediction both =
      PredictKnowing(row, RowFactTable::Parse(vocabulary + mark + attention + mark, "t"));
  ASSERT_EQ(both.inferred.size(), 2u);
  EXPECT_EQ(both.inferred[0].value_without, value(attention + mark));
  EXPECT_EQ(both.inferred[1].value_without, value(vocabulary + mark));
  EXPECT_EQ(both.value_without, PredictKnowing(row, RowFactTable()).value);
  EXPECT_NE(both.inferred[0].value_without, both.inferred[1].value_without);
}

// A model that was fitted to measurements of a site cannot be judged by rows of that site.
TEST(InferredPredictionTest, RowsThatTheNetworkModelHasSeenArePredictedWithoutToo) {
  MeasuredRow row;
  row.source = "paper";
  row.gpu_id = "a100-sxm4-80gb";
  row.intra_kind = "nvlink3-nvswitch";
  row.n_gpus = row.gpus_per_node = 4;
  row.collective = "all_reduce";
  row.bytes = 1 << 30;
  row.metric_kind = "collective_time";
  const RowFactTable facts = RowFactTable::Parse(
      "rows { source: \"paper\" facts { network_sites: \"lab\" } inferred_from_scored_rows: true "
      "origin: \"the same runs\" }",
      "t");
  const AnalyticalModel model;
  const ScaledModel without(model, {.intra = 2});
  const Prediction seen = PredictRow(row, {StackTable::Embedded(), facts, model, &without});
  ASSERT_TRUE(seen.value_without.has_value());
  EXPECT_NE(*seen.value_without, *seen.value);
  EXPECT_EQ(seen.inferred.size(), 1u);
  // For a model without these sites, nothing was inferred from the rows.
  EXPECT_TRUE(PredictKnowing(row, facts).inferred.empty());
}

}  // namespace
}  // namespace stagecraft
