// What a step exchanges if layers of several stages are one tensor: an embedding, a head, exits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/testing/lowered_counts.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kTable = 1024 * 256;  // of the vocabulary, in parameters

using States = std::vector<LayerState>;

Workload Llama(int layers) {
  return BuildDecoder(
      SizedDecoder(
          "llama",
          {.layers = layers, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512}),
      AttentionBackend::kFlash, "llama");
}

Workload WithExits(const Workload& workload, const std::vector<int>& layers, ExitHead head,
                   int frozen = 0) {
  States states(workload.layers.size());
  for (const int layer : layers) states[layer].exit_head = head;
  for (int layer = 0; layer < frozen; ++layer) states[layer].is_trained = false;
  return With(workload, states);
}

// The ranks of the collectives of this kind in tasks of this phase.
std::vector<int> RanksOf(const Schedule& schedule, Phase phase, OpKind kind) {
  std::vector<int> ranks;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (schedule.tag(task).phase != phase || schedule.op_sequence(task) < 0) continue;
    for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
      if (schedule.op(op).kind == kind) ranks.push_back(schedule.op(op).fabric.ranks);
    }
  }
  return ranks;
}

// Two stages of one GPU each: no gradients add up. What the last stage has updated goes to the
// first one, in 2 bytes a parameter.
TEST(TiedLoweringTest, ADetachedEmbeddingGetsTheUpdatedTable) {
  const Cluster cluster = MakeCluster(1, 2);
  const Workload net = Detached(MakeWorkload(), 4);
  const Plan plan = MakePlan(Degrees(1, 2), net, cluster);
  const Schedule schedule = Lower(plan, net, cluster);
  EXPECT_EQ(TasksOf(schedule, Phase::kGradReduce), 0);
  EXPECT_EQ(TasksOf(schedule, Phase::kOptimizer, 0), 0);
  EXPECT_EQ(BytesOf(schedule, Phase::kParamGather, OpKind::kBroadcast), 2 * kTable);
  EXPECT_EQ(RanksOf(schedule, Phase::kParamGather, OpKind::kBroadcast), std::vector<int>{2});
  const Timeline timeline = Simulate(plan, net, cluster, false);
  Duration updated, sent = Duration::Max();
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Phase phase = schedule.tag(task).phase;
    if (phase == Phase::kOptimizer) updated = std::max(updated, timeline.end(task));
    if (phase == Phase::kParamGather) sent = std::min(sent, timeline.start(task));
  }
  EXPECT_EQ(sent, updated);
  EXPECT_GT(timeline.makespan(), sent);
}

TEST(TiedLoweringTest, OnOneStageNothingIsSent) {
  const Cluster cluster = MakeCluster(1, 1);
  const Workload net = Detached(MakeWorkload(), 4);
  const Schedule schedule = Lower(MakePlan(Degrees(1, 1), net, cluster), net, cluster);
  EXPECT_EQ(TasksOf(schedule, Phase::kParamGather), 0);
}

// The optimizer moves bytes in proportion to the parameters that are trained, on one stage and on
// both of two.
TEST(TiedLoweringTest, TheStageOfTheHeadUpdatesTheTable) {
  const auto bytes = [](const Workload& net, int stages) {
    const Cluster cluster = MakeCluster(1, stages);
    return BytesOf(Lower(MakePlan(Degrees(1, stages), net, cluster), net, cluster),
                   Phase::kOptimizer, OpKind::kOptimizer);
  };
  const Workload all = MakeWorkload(), net = Detached(MakeWorkload(), 4);
  EXPECT_EQ(bytes(net, 1) * all.Parameters(), bytes(all, 1) * net.TrainedParameters());
  EXPECT_EQ(bytes(net, 2), bytes(net, 1));
}

// ZeRO-1 gathers the table in the last stage before it is sent. If the gather is left to the next
// step, each of two ranks sends what it has updated, a half, and the first stage gathers it, too;
// with ZeRO-3 it gathers it for its passes.
TEST(TiedLoweringTest, ShardsOfTheTableAreSentAsTheyAre) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload net = Detached(MakeWorkload(), 4);
  const auto lower = [&](int zero, bool overlaps, bool unfold) {
    PlanDegrees degrees = Degrees(1, 2);
    degrees.zero = zero;
    degrees.overlap_param_gather = overlaps;
    return Lower(MakePlan(degrees, net, cluster), net, cluster, {.unfold = unfold});
  };
  const auto sent = [&](int zero, bool overlaps) {
    return BytesOf(lower(zero, overlaps, true), Phase::kParamGather, OpKind::kBroadcast);
  };
  EXPECT_EQ(sent(0, false), 2 * 2 * kTable);
  EXPECT_EQ(sent(1, false), 2 * 2 * kTable);
  EXPECT_EQ(sent(1, true), 2 * kTable);
  EXPECT_EQ(sent(3, false), 2 * kTable);
  const auto gathered = [&](bool overlaps) {
    const Schedule schedule = lower(1, overlaps, false);
    int64_t bytes = 0;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const Tag& tag = schedule.tag(task);
      if (tag.phase != Phase::kParamGather || tag.stage != 0) continue;
      for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
        bytes += schedule.op(op).kind == OpKind::kAllGather ? schedule.op(op).bytes.count() : 0;
      }
    }
    return bytes;
  };
  EXPECT_EQ(gathered(false), 0);
  EXPECT_EQ(gathered(true), 2 * kTable);
}

// Four stages of two blocks each, with exits in the second and the third one.
TEST(TiedLoweringTest, TiedExitsAddUpTheirGradientsWithTheHead) {
  const Cluster cluster = MakeCluster(1, 4);
  const auto reduced = [&](const Workload& net) {
    PlanDegrees degrees = Degrees(1, 4);
    degrees.gradient_bytes = 4;
    const Schedule schedule = Lower(MakePlan(degrees, net, cluster), net, cluster);
    EXPECT_EQ(BytesOf(schedule, Phase::kGradReduce, OpKind::kAllReduce),
              TasksOf(schedule, Phase::kGradReduce) * 4 * kTable);
    return RanksOf(schedule, Phase::kGradReduce, OpKind::kAllReduce);
  };
  const Workload gpt = MakeWorkload(8), llama = Llama(8);
  EXPECT_EQ(reduced(gpt), std::vector<int>{2});
  EXPECT_EQ(reduced(llama), std::vector<int>{});
  EXPECT_EQ(reduced(WithExits(gpt, {3, 5}, ExitHead::kTied)), std::vector<int>{4});
  EXPECT_EQ(reduced(WithExits(llama, {3, 5}, ExitHead::kTied)), std::vector<int>{3});
  EXPECT_EQ(reduced(WithExits(llama, {3, 4, 7}, ExitHead::kTied)), std::vector<int>{2});
  EXPECT_EQ(reduced(WithExits(gpt, {3, 5}, ExitHead::kOwn)), std::vector<int>{2});
  EXPECT_EQ(reduced(WithExits(llama, {3, 5}, ExitHead::kOwn)), std::vector<int>{});
}

// The first two stages are frozen: the exit of the second one gets what the others update.
TEST(TiedLoweringTest, FrozenExitsAreSentTheUpdatedTensor) {
  const Cluster cluster = MakeCluster(1, 4);
  const Workload net = WithExits(Llama(8), {3, 5}, ExitHead::kTied, 5);
  const Schedule schedule = Lower(MakePlan(Degrees(1, 4), net, cluster), net, cluster);
  EXPECT_EQ(RanksOf(schedule, Phase::kGradReduce, OpKind::kAllReduce), std::vector<int>{2});
  EXPECT_EQ(RanksOf(schedule, Phase::kParamGather, OpKind::kBroadcast), std::vector<int>{2});
}

// The GEMM of an exit runs once forward and twice backward, beside those of its block.
TEST(TiedLoweringTest, ExitsRunTheGemmsOfTheirHeads) {
  const Cluster cluster = MakeCluster(1, 1);
  const auto gemms = [&](const Workload& net, Phase phase) {
    PlanDegrees degrees = Degrees(1, 1);
    degrees.global_batch = degrees.micro_batch;
    const Schedule schedule = Lower(MakePlan(degrees, net, cluster), net, cluster);
    int count = 0;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (schedule.tag(task).phase != phase) continue;
      for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
        count += schedule.op(op).kind == OpKind::kGemm ? 1 : 0;
      }
    }
    return count;
  };
  const Workload llama = Llama(4);
  for (const ExitHead head : {ExitHead::kOwn, ExitHead::kTied}) {
    const Workload net = WithExits(llama, {1, 2}, head);
    EXPECT_EQ(gemms(net, Phase::kForward) - gemms(llama, Phase::kForward), 2);
    EXPECT_EQ(gemms(net, Phase::kBackward) - gemms(llama, Phase::kBackward), 4);
  }
}

struct Shape {
  int tensor, pipeline, zero;
  bool overlap_gather;
};

class TiedFoldingTest : public testing::TestWithParam<Shape> {};

TEST_P(TiedFoldingTest, FoldedAndUnfoldedAgree) {
  const Shape s = GetParam();
  const Cluster cluster = MakeCluster(2, 8);
  PlanDegrees degrees = Degrees(s.tensor, s.pipeline);
  degrees.zero = s.zero;
  degrees.overlap_param_gather = s.overlap_gather;
  for (const Workload& net :
       {Detached(MakeWorkload(8), 4), WithExits(MakeWorkload(8), {2, 5}, ExitHead::kTied),
        WithExits(Llama(8), {2, 5}, ExitHead::kTied, 4)}) {
    const Plan plan = MakePlan(degrees, net, cluster);
    EXPECT_EQ(Simulate(plan, net, cluster, false).makespan(),
              Simulate(plan, net, cluster, true).makespan());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TiedFoldingTest,
                         testing::Values(Shape{1, 1, 0, false}, Shape{1, 4, 0, false},
                                         Shape{2, 4, 1, false}, Shape{2, 4, 1, true},
                                         Shape{1, 4, 2, false}, Shape{2, 2, 3, false}));

}  // namespace
}  // namespace stagecraft
