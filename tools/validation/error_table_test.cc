#include "tools/validation/error_table.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

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

TEST(ErrorTableTest, SpearmanIsOfRanksWithTiesAtTheirMean) {
  EXPECT_DOUBLE_EQ(Spearman({1, 2, 300}, {4, 5, 6}).value(), 1);
  EXPECT_DOUBLE_EQ(Spearman({3, 2, 1}, {4, 5, 6}).value(), -1);
  // The ranks are 1.5, 1.5, 3 and 1, 2, 3, so the correlation is 1.5 / sqrt(1.5 · 2).
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

// The groups have regrets of 100, 0 and 50 %.
TEST(ErrorTableTest, RegretIsTheMedianOverGroupsAndTheMeanBesideIt) {
  const std::vector<ValidatedRow> rows = {
      Row(1, 2, "a"), Row(2, 1, "a"), Row(3, 3, "a"), Row(4, 4, "a"),  // 2, but 1 is possible
      Row(1, 1, "b"), Row(2, 2, "b"), Row(3, 3, "b"), Row(4, 4, "b"),  // the best
      Row(1, 3, "c"), Row(2, 2, "c"), Row(3, 4, "c"), Row(4, 5, "c"),  // 3, but 2 is possible
      Row(1, 9, "d"), Row(2, 1, "d"), Row(3, 1, "d")};                 // only three rows
  const ErrorStats stats = SummarizeBy(rows, false, false).at(0);
  EXPECT_EQ(stats.groups, 3);
  EXPECT_NEAR(*stats.regret, 50, 1e-9);
  EXPECT_NEAR(*stats.mean_regret, 50, 1e-9);
  const ErrorStats two = SummarizeBy(std::span(rows).first(8), false, false).at(0);
  EXPECT_NEAR(*two.regret, 50, 1e-9);
  // With regrets of 100, 0 and 0 % median and mean differ.
  std::vector<ValidatedRow> uneven(rows.begin(), rows.begin() + 8);
  for (int i = 4; i < 8; ++i) {
    uneven.push_back(rows[i]);
    uneven.back().measured.group = "e";
  }
  const ErrorStats skewed = SummarizeBy(uneven, false, false).at(0);
  EXPECT_NEAR(*skewed.regret, 0, 1e-9);
  EXPECT_NEAR(*skewed.mean_regret, 100.0 / 3, 1e-9);
}

ValidatedRow RowWithin(double predicted, double measured, double spread) {
  ValidatedRow row = Row(predicted, measured);
  row.prediction.spread = spread;
  return row;
}

// With a spread of 0.1 the interval goes from 1 / 1.1367 to 1.1367 times the prediction.
TEST(ErrorTableTest, IntervalsHoldWhatLiesWithinFourFifthsOfTheirDistribution) {
  EXPECT_EQ(RowWithin(1, 1.13, 0.1).is_in_interval(), true);
  EXPECT_EQ(RowWithin(1, 1.14, 0.1).is_in_interval(), false);
  EXPECT_EQ(RowWithin(1, 0.88, 0.1).is_in_interval(), true);
  EXPECT_EQ(RowWithin(1, 0.87, 0.1).is_in_interval(), false);
  EXPECT_EQ(RowWithin(5, 5, 0).is_in_interval(), true);
  EXPECT_FALSE(Row(1, 1).is_in_interval().has_value());
}

// Four primary rows have an interval, and three of these hold. One row has none, and one is not
// primary.
TEST(ErrorTableTest, CoverageIsOverPrimaryRowsThatHaveAnInterval) {
  std::vector<ValidatedRow> rows = {RowWithin(1, 1, 0.1),
                                    RowWithin(1, 1.1, 0.1),
                                    RowWithin(1, 0.9, 0.1),
                                    RowWithin(1, 2, 0.1),
                                    Row(1, 1),
                                    RowWithin(1, 9, 0.1)};
  rows.back().measured.is_primary = false;
  ErrorStats stats = SummarizeBy(rows, true, true).at(0);
  EXPECT_EQ(stats.counted, 5);
  EXPECT_EQ(stats.interval_rows, 4);
  EXPECT_NEAR(*stats.interval80_coverage, 75, 1e-9);
  rows = {Row(1, 1)};
  stats = SummarizeBy(rows, true, true).at(0);
  EXPECT_EQ(stats.interval_rows, 0);
  EXPECT_FALSE(stats.interval80_coverage.has_value());
}

// One row is 10 % off with the fact and 30 % without it; one that needs no such fact is 10 % off.
TEST(ErrorTableTest, FactsThatTheRowsGaveAwayAreLeftOutInASecondFigure) {
  std::vector<ValidatedRow> rows = {Row(1.1, 1), Row(1.1, 1)};
  EXPECT_FALSE(SummarizeBy(rows, true, true).at(0).mape_without.has_value());
  rows[0].prediction.inferred = {{{"vocabulary 32000", "assumption: it fits", false}, 0.7}};
  rows[0].prediction.value_without = 0.7;
  ErrorStats stats = SummarizeBy(rows, true, true).at(0);
  EXPECT_EQ(stats.inferred_rows, 1);
  EXPECT_NEAR(*stats.mape, 10, 1e-9);
  EXPECT_NEAR(*stats.mape_without, 20, 1e-9);
  // A row that cannot be predicted without these facts is left out of the mean.
  rows[0].prediction.value_without.reset();
  stats = SummarizeBy(rows, true, true).at(0);
  EXPECT_NEAR(*stats.mape_without, 10, 1e-9);
}

// The row that was predicted best took 2, but the best one took 1, which is 100 % regret.
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

// All rows of the other source run at half the peak, so their step time is FLOPs / 50.
TEST(BaselinesTest, LearnFromOtherSourcesAlone) {
  std::vector<ValidatedRow> rows;
  for (int i = 1; i <= 20; ++i) {
    rows.push_back(Row(1, i * 2.0));
    rows.back().prediction.metric = StepMetric{};
    rows.back().prediction.step = Features(i * 100.0);
  }
  rows.push_back(Row(1, 1000));
  rows.back().measured.source = "other";
  rows.back().prediction.metric = StepMetric{};
  rows.back().prediction.step = Features(500);
  AddBaselines(rows);
  EXPECT_NEAR(*rows.back().constant_rate, 10, 1e-9);
  EXPECT_NEAR(*rows.back().ridge, 10, 1);
  // These rows have only one row of another source to learn from.
  EXPECT_FALSE(rows.front().constant_rate.has_value());
}

}  // namespace
}  // namespace stagecraft
