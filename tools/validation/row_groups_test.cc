#include "tools/validation/row_groups.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

std::vector<const ValidatedRow*> PointersTo(const std::vector<ValidatedRow>& rows) {
  std::vector<const ValidatedRow*> pointers;
  for (const ValidatedRow& row : rows) pointers.push_back(&row);
  return pointers;
}

std::string NamesOf(const std::vector<ValidatedRow>& rows, Grouping by) {
  std::string names;
  for (const RowGroup& group : GroupRows(PointersTo(rows), by)) names += group.name + "|";
  return names;
}

// Ratios of predicted to measured times of 1.2 and 0.9 in table b, of 2 in table a.
TEST(RowGroupsTest, EachGroupHasItsRowsAndTheirErrors) {
  const std::vector<ValidatedRow> rows = {TimeRow("b", 1.2, 1), TimeRow("a", 4, 2),
                                          TimeRow("b", 1.8, 2)};
  const std::vector<RowGroup> groups = GroupRows(PointersTo(rows), Grouping::kTable);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "b");  // it appears first
  EXPECT_EQ(groups[0].rows, (std::vector<int>{0, 2}));
  EXPECT_EQ(groups[0].errors.rows, 2);
  EXPECT_NEAR(groups[0].errors.mape, 15, 1e-9);
  EXPECT_NEAR(groups[0].errors.bias, 5, 1e-9);
  EXPECT_NEAR(groups[0].errors.mape_factored, 100 * 0.15 / 1.05, 1e-9);
  EXPECT_EQ(groups[1].rows, std::vector<int>{1});
  EXPECT_NEAR(groups[1].errors.mape, 100, 1e-9);
  EXPECT_NEAR(groups[1].errors.mape_factored, 0, 1e-9);
}

TEST(RowGroupsTest, ScalesAreInOrderOfTheirNumbersOfGpus) {
  std::vector<ValidatedRow> rows;
  for (const int gpus : {513, 512, 65, 64, 9, 8, 2, 1}) {
    rows.push_back(TimeRow("a", 1, 1));
    rows.back().measured.n_gpus = gpus;
  }
  EXPECT_EQ(NamesOf(rows, Grouping::kScale), "1|2-8|9-64|65-512|more than 512|");
  EXPECT_EQ(GroupRows(PointersTo(rows), Grouping::kScale)[3].rows, (std::vector<int>{1, 2}));
}

TEST(RowGroupsTest, MechanismsAreThoseOfThePredictions) {
  std::vector<ValidatedRow> rows;
  for (const char* part : {"bubble", "", "activations", "bubble"}) {
    rows.push_back(TimeRow("a", 1, 1));
    rows.back().prediction.main_part = part;
  }
  EXPECT_EQ(NamesOf(rows, Grouping::kMechanism), "activations|bubble|parts of steps|");
}

TEST(RowGroupsTest, GpusFollowFromTheDegreesIfTheyAreNotStated) {
  MeasuredRow row;
  EXPECT_EQ(GpusOf(row), 1);
  row.tp = 2;
  row.pp = 3;
  row.dp = 5;
  EXPECT_EQ(GpusOf(row), 30);
  row.n_gpus = 60;
  EXPECT_EQ(GpusOf(row), 60);
}

TEST(RowGroupsTest, MemoryHasAClassOfWorkAsWell) {
  std::vector<ValidatedRow> rows = {TimeRow("a", 1, 1), TimeRow("a", 1, 1), TimeRow("a", 1, 1)};
  rows[0].measured.metric_kind = "peak_memory_allocated";
  rows[1].measured.model_kind = "resnet50";
  rows[2].measured.dtype = "fp32";
  EXPECT_EQ(NamesOf(rows, Grouping::kClass),
            "large models, 16 bits or fewer|large models, 32 bits or mixed GPUs|"
            "classics and old GPUs|");
}

TEST(RowGroupsTest, WhatIsNotStatedIsAGroupOfItsOwn) {
  std::vector<ValidatedRow> rows = {TimeRow("a", 1, 1), TimeRow("a", 1, 1)};
  rows[1].measured.gpu_id = rows[1].measured.stack = rows[1].measured.dtype = "";
  EXPECT_EQ(NamesOf(rows, Grouping::kGpu), "a100-sxm4-80gb|not stated|");
  EXPECT_EQ(NamesOf(rows, Grouping::kStack),
            "bf16, megatron-core|precision not stated, stack not stated|");
  EXPECT_EQ(NamesOf(rows, Grouping::kMetric), "step_time|");
}

}  // namespace
}  // namespace stagecraft
