#include "sim/analysis/class_comparison.h"

#include <gtest/gtest.h>

#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

// Two devices that a rank stands for: [gemm 3 us, all-reduce 1 us], then nothing for 1 us and an
// optimizer of 1 us.
TimelineRecord Predicted() {
  Schedule::Builder builder;
  builder.AddRank({.device = 0, .multiplicity = 2});
  const Lane lane[] = {builder.AddLane({0, LaneKind::kCompute})};
  Fabric fabric;
  fabric.ranks = 2;
  const OpId pass[] = {builder.AddOp(Op::Gemm(DType::kBf16, 8, 8, 8)),
                       builder.AddOp(Op::Collective(OpKind::kAllReduce, Bytes(64), fabric))};
  const OpId update[] = {builder.AddOp(Op::Optimizer(Bytes(64), 1))};
  builder.Add(lane, {}, builder.AddOpSequence(pass), {.rank = 0, .micro_batch = 0});
  builder.Add(lane, {}, builder.AddOpSequence(update), {.rank = 0, .phase = Phase::kOptimizer});
  TimelineRecord record;
  record.schedule = builder.Build();
  record.timeline = Timeline({0_us, 5_us}, {4_us, 6_us});
  record.op_times = {{{3_us, 1_us, 1_us}}, {0}};
  return record;
}

// One rank: a gemm of 2 us forward in layer 1, and a copy of 1 us whose phase nobody knows.
TimelineRecord Measured() {
  Schedule::Builder builder;
  builder.AddRank({.device = 1});
  const Lane lane[] = {builder.AddLane({0, LaneKind::kCompute})};
  builder.Add(lane, {}, -1, {.rank = 0});
  builder.Add(lane, {}, -1, {.rank = 0});
  TimelineRecord record;
  record.schedule = builder.Build();
  record.timeline = Timeline({0_us, 2_us}, {2_us, 3_us});
  record.kernels = KernelProfile{
      .names = {"sgemm", "Memcpy"},
      .kernels = {{0, KernelClass::kGemm, 1, true, {}}, {1, KernelClass::kCopy, -1, false, {}}},
      .world_size = 2};
  return record;
}

TEST(ClassComparisonTest, TimesAreThoseOfAMeanDeviceClassByClass) {
  const ClassComparison c = CompareClasses(Predicted(), Measured());
  EXPECT_EQ(c.predicted_devices, 2);
  EXPECT_EQ(c.measured_ranks, 1);
  EXPECT_FALSE(c.is_of_same_ranks);  // device 1 is not a rank of the prediction
  ASSERT_EQ(c.classes.size(), 4);
  EXPECT_EQ(c.classes[0].kind, KernelClass::kGemm);
  EXPECT_EQ(c.classes[0].time.predicted, 3_us);
  EXPECT_EQ(c.classes[0].time.measured, 2_us);
  EXPECT_EQ(c.classes[1].kind, KernelClass::kOptimizer);
  EXPECT_EQ(c.classes[2].kind, KernelClass::kAllReduce);
  EXPECT_EQ(c.classes[3].kind, KernelClass::kCopy);
  EXPECT_EQ(c.idle.predicted, 1_us);
  EXPECT_EQ(c.idle.measured, 0_us);
}

TEST(ClassComparisonTest, NamesWhatWasNeverPredictedAndWhatNeverRan) {
  const ClassComparison c = CompareClasses(Predicted(), Measured());
  ASSERT_EQ(c.never_predicted.size(), 1);
  EXPECT_EQ(c.never_predicted[0].name, "Memcpy");
  EXPECT_EQ(c.never_predicted[0].time, 1_us);
  EXPECT_EQ(c.never_ran,
            (std::vector<KernelClass>{KernelClass::kOptimizer, KernelClass::kAllReduce}));
  ASSERT_EQ(c.layers.size(), 1);
  EXPECT_EQ(c.layers[0].layer, 1);
  EXPECT_EQ(c.layers[0].forward, 2_us);
  EXPECT_EQ(c.phases.back().phase, std::nullopt);
  EXPECT_EQ(c.phases.back().time.measured, 1_us);
}

TEST(ClassComparisonTest, AWholeTaskIsOfTheClassOfItsOpsOrAPass) {
  const TimelineRecord record = Predicted();
  EXPECT_EQ(WholeClassOf(record.schedule, 0), KernelClass::kPass);
  EXPECT_EQ(WholeClassOf(record.schedule, 1), KernelClass::kOptimizer);
}

}  // namespace
}  // namespace stagecraft
