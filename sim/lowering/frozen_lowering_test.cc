// What a step runs if some layers are frozen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowered_counts.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kWidth = 256;
constexpr int64_t kMatrix = kWidth * kWidth;

std::vector<OpKind> KindsOf(const Steps& steps) {
  std::vector<OpKind> kinds;
  for (const Step& step : steps) kinds.push_back(step.op.kind);
  return kinds;
}

// A GEMM for each gradient that is needed; the weight gradient is then added to the sum.
TEST(FrozenLoweringTest, ALayerRunsTheGemmsOfTheGradientsThatAreNeeded) {
  const Workload chain = Frozen(LinearChain(5, kWidth), {0, 3});
  ShardSpec spec;
  spec.sequence = 512;
  spec.gradient_bytes = 4;
  const auto backward = [&](int layer) {
    return KindsOf(ShardLayer(chain.layer(layer), spec).backward);
  };
  using enum OpKind;
  EXPECT_EQ(backward(0), std::vector<OpKind>{});
  EXPECT_EQ(backward(1), (std::vector<OpKind>{kGemm, kElementwise}));
  EXPECT_EQ(backward(2), (std::vector<OpKind>{kGemm, kGemm, kElementwise}));
  EXPECT_EQ(backward(3), (std::vector<OpKind>{kGemm}));
  for (int layer = 0; layer < 5; ++layer) {
    EXPECT_EQ(KindsOf(ShardLayer(chain.layer(layer), spec).forward), (std::vector<OpKind>{kGemm}));
  }
  const Steps first = ShardLayer(chain.layer(1), spec).backward;
  EXPECT_NE(first[0].flags & kWeightGradient, 0);
  EXPECT_EQ(ShardLayer(chain.layer(3), spec).backward[0].flags & kWeightGradient, 0);
}

// Under sequence parallelism the weight gradient needs the gathered input, the input gradient a
// reduction: without the one or the other GEMM its collective does not run either, and what is left
// overlaps no GEMM of another kind.
TEST(FrozenLoweringTest, CollectivesGoWithTheirGemms) {
  ShardSpec spec;
  spec.sequence = 512;
  spec.tensor = 2;
  spec.sequence_parallel = true;
  spec.tensor_fabric.ranks = 2;
  const Workload chain = Frozen(LinearChain(4, kWidth), {0, 3});
  using enum OpKind;
  const Steps first = ShardLayer(chain.layer(1), spec).backward;
  EXPECT_EQ(KindsOf(first), (std::vector<OpKind>{kAllGather, kGemm}));
  EXPECT_EQ(first[0].flags & kOverlapsNext, 0);  // the GEMM waits for it
  const Steps frozen = ShardLayer(chain.layer(3), spec).backward;
  EXPECT_EQ(KindsOf(frozen), (std::vector<OpKind>{kGemm, kReduceScatter}));
  EXPECT_EQ(frozen[1].flags & kOverlapsNext, 0);
  EXPECT_EQ(KindsOf(ShardLayer(chain.layer(2), spec).backward),
            (std::vector<OpKind>{kAllGather, kGemm, kReduceScatter, kGemm}));
}

// Four stages of a layer each, of which the first two are frozen: forwards take (m + p - 1) f as
// ever, but backwards only m times that of the last stage and once that of the first trained one,
// which is half as long, as it makes no gradient of its input.
TEST(FrozenLoweringTest, GpipeMatchesItsClosedForm) {
  const Workload chain = Frozen(LinearChain(4, kWidth), {0, 1});
  const Cluster cluster = FreeCluster(4);
  PlanDegrees degrees = LayerEach(4);
  degrees.schedule = PipelineSchedule::kGpipe;
  const Plan plan = MakePlan(degrees, chain, cluster);
  const Schedule schedule = Lower(plan, chain, cluster, {.with_optimizer = false});
  const Timeline timeline = Simulate(plan, chain, cluster, false, /*with_optimizer=*/false);
  std::map<std::pair<Phase, int>, Duration> times;  // of a pass, by stage
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    times[{tag.phase, tag.stage}] = timeline.end(task) - timeline.start(task);
  }
  const auto time = [&](Phase phase, int stage) { return times.at({phase, stage}); };
  const Duration forward = time(Phase::kForward, 0);
  const Duration backward = time(Phase::kBackward, 3);
  const Duration first = time(Phase::kBackward, 2);
  EXPECT_EQ(time(Phase::kBackward, 0), Duration());
  EXPECT_EQ(time(Phase::kBackward, 1), Duration());
  EXPECT_EQ(backward - first, forward);  // the GEMM of the gradient of the input
  constexpr int kMicroBatches = 32 / 2;
  EXPECT_EQ(timeline.makespan(), (kMicroBatches + 3) * forward + kMicroBatches * backward + first);
}

TEST(FrozenLoweringTest, NoGradientIsSentToStagesWithoutABackward) {
  const Cluster cluster = MakeCluster(1, 4);
  const auto sends = [&](const std::vector<int>& frozen) {
    const Workload chain = Frozen(LinearChain(4, kWidth), frozen);
    const Schedule schedule = Lower(MakePlan(LayerEach(4), chain, cluster), chain, cluster);
    EXPECT_EQ(TasksOf(schedule, Phase::kSendForward), 3 * 16);
    return TasksOf(schedule, Phase::kSendBackward);
  };
  EXPECT_EQ(sends({}), 3 * 16);
  EXPECT_EQ(sends({0}), 2 * 16);
  EXPECT_EQ(sends({0, 1}), 1 * 16);
  EXPECT_EQ(sends({0, 1, 2}), 0);
  EXPECT_EQ(sends({1, 2, 3}), 3 * 16);  // it passes through frozen stages
}

// A frozen stage still runs ahead of the stages behind it by no more micro-batches than 1F1B lets
// it, although nothing is sent back to it.
TEST(FrozenLoweringTest, FrozenStagesKeepTheirPlaceInTheOrder) {
  const Workload chain = Frozen(LinearChain(2, kWidth), {0});
  const Cluster cluster = MakeCluster(1, 2);
  const Plan plan = MakePlan(LayerEach(2), chain, cluster);
  const Schedule schedule = Lower(plan, chain, cluster);
  const Timeline timeline = Simulate(plan, chain, cluster, false);
  std::map<std::pair<int, int>, Duration> starts, ends;  // forward by stage; backward by stage
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase == Phase::kForward) starts[{tag.stage, tag.micro_batch}] = timeline.start(task);
    if (tag.phase == Phase::kBackward) ends[{tag.stage, tag.micro_batch}] = timeline.end(task);
  }
  for (int micro_batch = 2; micro_batch < 16; ++micro_batch) {
    EXPECT_GE((starts[{0, micro_batch}]), (ends[{1, micro_batch - 2}])) << micro_batch;
  }
}

TEST(FrozenLoweringTest, OnlyTrainedParametersAreReduced) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload chain = Frozen(LinearChain(6, kWidth), {0, 1, 3});
  for (const bool overlaps : {false, true}) {
    for (const int64_t bucket_bytes : {int64_t{0}, 4 * kMatrix, 8 * kMatrix}) {
      PlanDegrees degrees = Degrees(1, 1);
      degrees.zero = 0;
      degrees.gradient_bytes = 4;
      degrees.overlap_grad_reduce = overlaps;
      degrees.bucket_bytes = bucket_bytes;
      const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
      EXPECT_EQ(BytesOf(schedule, Phase::kGradReduce, OpKind::kAllReduce), 3 * 4 * kMatrix);
      const bool by_layer = overlaps && bucket_bytes == 4 * kMatrix;
      if (by_layer) {
        EXPECT_EQ(TasksOf(schedule, Phase::kGradReduce), 3);
      }
    }
  }
}

// The optimizer moves as many bytes as that of a network that has the trained layers alone, and
// ZeRO gathers what it has updated.
TEST(FrozenLoweringTest, OnlyTrainedParametersAreUpdated) {
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 1;
  const auto lower = [&](const Workload& workload) {
    return Lower(MakePlan(degrees, workload, cluster), workload, cluster);
  };
  const Schedule frozen = lower(Frozen(LinearChain(6, kWidth), {0, 1, 3}));
  const Schedule small = lower(LinearChain(3, kWidth));
  EXPECT_EQ(BytesOf(frozen, Phase::kOptimizer, OpKind::kOptimizer),
            BytesOf(small, Phase::kOptimizer, OpKind::kOptimizer));
  EXPECT_EQ(BytesOf(frozen, Phase::kParamGather, OpKind::kAllGather), 3 * 2 * kMatrix);
  degrees.overlap_param_gather = true;
  EXPECT_EQ(BytesOf(lower(Frozen(LinearChain(6, kWidth), {0, 1, 3})), Phase::kParamGather,
                    OpKind::kAllGather),
            3 * 2 * kMatrix);
}

TEST(FrozenLoweringTest, AFrozenStageUpdatesAndReducesNothing) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload chain = Frozen(LinearChain(4, kWidth), {0, 1});
  PlanDegrees degrees = Degrees(1, 2);
  for (const int zero : {0, 1, 2, 3}) {
    degrees.zero = zero;
    const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
    for (const Phase phase : {Phase::kGradReduce, Phase::kOptimizer}) {
      EXPECT_EQ(TasksOf(schedule, phase, 0), 0) << zero;
      EXPECT_GT(TasksOf(schedule, phase, 1), 0) << zero;
    }
  }
}

// With ZeRO-3 each of four micro-batches of a replica gathers every layer for its forward, and
// those that have a backward for it; the trained ones are reduced.
TEST(FrozenLoweringTest, ShardedParametersAreGatheredWhereTheyAreUsed) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload chain = Frozen(LinearChain(6, kWidth), {0, 1, 3});
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.gradient_bytes = 2;
  const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
  EXPECT_EQ(BytesOf(schedule, Phase::kParamGather, OpKind::kAllGather), 4 * 2 * (6 + 4) * kMatrix);
  EXPECT_EQ(BytesOf(schedule, Phase::kGradReduce, OpKind::kReduceScatter), 4 * 2 * 3 * kMatrix);
}

// A frozen embedding and head that are one tensor have no gradients to add up across stages.
TEST(FrozenLoweringTest, FrozenTiedEmbeddingsAreNotReduced) {
  const Cluster cluster = MakeCluster(1, 2);
  const auto reductions = [&](const Workload& workload) {
    return TasksOf(Lower(MakePlan(Degrees(1, 2), workload, cluster), workload, cluster),
                   Phase::kGradReduce);
  };
  EXPECT_EQ(reductions(MakeWorkload()), 1);
  EXPECT_EQ(reductions(Frozen(MakeWorkload(), {0, 7})), 0);
}

// Ranges of recomputed layers begin at the first layer that has a backward; before it nothing runs
// again.
TEST(FrozenLoweringTest, LayersWithoutABackwardAreNotRecomputed) {
  const Cluster cluster = MakeCluster(1, 1);
  const auto gemms = [&](const std::vector<int>& frozen, Recompute recompute, int group) {
    const Workload chain = Frozen(LinearChain(6, kWidth), frozen);
    PlanDegrees degrees = Degrees(1, 1);
    degrees.global_batch = degrees.micro_batch;
    degrees.recompute = recompute;
    if (group > 0) {
      degrees.recompute_choice.method = RecomputeChoice::Method::kUniform;
      degrees.recompute_choice.counts = {group};
    }
    const Schedule schedule = Lower(MakePlan(degrees, chain, cluster), chain, cluster);
    int count = 0;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (schedule.tag(task).phase != Phase::kBackward) continue;
      for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
        count += schedule.op(op).kind == OpKind::kGemm ? 1 : 0;
      }
    }
    return count;
  };
  EXPECT_EQ(gemms({}, Recompute::kNone, 0), 6 * 2);
  EXPECT_EQ(gemms({}, Recompute::kFull, 0), 6 * 3);
  EXPECT_EQ(gemms({0, 1, 2}, Recompute::kNone, 0), 1 + 2 + 2);
  EXPECT_EQ(gemms({0, 1, 2}, Recompute::kFull, 0), 1 + 2 + 2 + 3);
  EXPECT_EQ(gemms({0, 1, 2}, Recompute::kFull, 2), 1 + 2 + 2 + 3);
}

struct Shape {
  int tensor, pipeline, chunks, context, zero;
  bool overlap_gather;
};

class FrozenFoldingTest : public testing::TestWithParam<Shape> {};

TEST_P(FrozenFoldingTest, FoldedAndUnfoldedAgreeAndTakeNoLonger) {
  const Shape s = GetParam();
  DecoderConfig config = SizedDecoder(
      "llama", {.layers = 10, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512});
  const Workload all = BuildDecoder(config, AttentionBackend::kFlash, "llama");
  const Cluster cluster = MakeCluster(2, 8);
  PlanDegrees degrees = Degrees(s.tensor, s.pipeline);
  degrees.chunks = s.chunks;
  if (s.chunks > 1) degrees.schedule = PipelineSchedule::kInterleaved;
  degrees.context = s.context;
  degrees.zero = s.zero;
  degrees.overlap_param_gather = s.overlap_gather;
  const Duration usual = Simulate(MakePlan(degrees, all, cluster), all, cluster, false).makespan();
  for (const std::vector<int>& frozen : {std::vector<int>{0, 1, 2, 3, 4, 5, 6}, std::vector<int>{0},
                                         std::vector<int>{3, 4, 5, 11}}) {
    const Workload net = Frozen(all, frozen);
    const Plan plan = MakePlan(degrees, net, cluster);
    const Duration folded = Simulate(plan, net, cluster, false).makespan();
    EXPECT_EQ(folded, Simulate(plan, net, cluster, true).makespan());
    EXPECT_LE(folded, usual);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FrozenFoldingTest,
                         testing::Values(Shape{1, 1, 1, 1, 0, false}, Shape{2, 2, 1, 1, 1, false},
                                         Shape{2, 4, 1, 1, 1, true}, Shape{2, 2, 3, 1, 1, true},
                                         Shape{1, 2, 1, 2, 2, false}, Shape{2, 2, 2, 1, 3, false},
                                         Shape{8, 1, 1, 1, 3, false}));

}  // namespace
}  // namespace stagecraft
