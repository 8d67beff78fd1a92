// Gathers and reductions of parameters that ranks share.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/lowering/lowering.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// With hybrid sharding, gathers stay in groups of four ranks, which are one node.
TEST(ShardedLoweringTest, HybridShardingKeepsGathersInTheNode) {
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(4, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.zero_group = 4;
  degrees.global_batch = 64;
  const Plan plan = MakePlan(degrees, workload, cluster);
  EXPECT_EQ(Simulate(plan, workload, cluster, false).makespan(),
            Simulate(plan, workload, cluster, true).makespan());
  const Schedule schedule = Lower(plan, workload, cluster);
  for (const Op& op : schedule.distinct_ops()) {
    if (op.kind == OpKind::kAllGather) {
      EXPECT_EQ(op.fabric.nodes, 1);
    }
  }
}

// Parameters are gathered twice per micro-batch and gradients reduced once (as in the ZeRO paper,
// three times the parameters are sent).
TEST(ShardedLoweringTest, FullyShardedTrafficIsThreeTimesTheParameters) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.gradient_bytes = 2;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  int64_t gathered = 0;
  int64_t reduced = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Op& op = schedule.op(schedule.ops(schedule.op_sequence(task))[0]);
    if (op.kind == OpKind::kAllGather) gathered += op.bytes.count();
    if (op.kind == OpKind::kReduceScatter) reduced += op.bytes.count();
  }
  const int64_t micro_batches = 32 / 2 / 4;
  EXPECT_EQ(gathered, micro_batches * 2 * 2 * workload.Parameters());
  EXPECT_EQ(reduced, micro_batches * 2 * workload.Parameters());
}

// A gather that waits for the layer before and for its reduction is exposed; the traffic is the
// same.
TEST(ShardedLoweringTest, ALateGatherIsExposed) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(2, 2);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  const auto simulate = [&] {
    return Simulate(MakePlan(degrees, workload, cluster), workload, cluster, false);
  };
  const Timeline early = simulate();
  degrees.framework.backward_prefetch = BackwardPrefetch::kAfter;
  const Timeline late = simulate();
  EXPECT_GT(late.makespan(), early.makespan());
  EXPECT_EQ(late.task_count(), early.task_count());
}

// Whether the table of the head is that of the embedding.
class TensorGatherTest : public testing::TestWithParam<bool> {};

// Each tensor has a collective of its own, which begins once the layer before is done. Small tensors
// are not gathered, all others as often as by layers; each collective has a list with a tensor of
// every rank.
TEST_P(TensorGatherTest, TensorsAreGatheredOneByOne) {
  DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 4, .hidden = 512, .heads = 8, .vocab = 1024, .max_sequence = 512});
  config.tied_embeddings = GetParam();
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "gathered");
  const Cluster cluster = MakeCluster(2, 2);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.framework.backward_prefetch = BackwardPrefetch::kAfter;
  struct Traffic {
    Duration makespan;
    int64_t gathered = 0, reduced = 0, gathers = 0, reductions = 0, listed = 0;
  };
  const auto traffic = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    Traffic sum = {Simulate(plan, workload, cluster, false).makespan()};
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      for (const OpId id : schedule.ops(schedule.op_sequence(task))) {
        const Op& op = schedule.op(id);
        if (op.kind == OpKind::kProfiled) sum.listed += op.m;
        if (op.kind == OpKind::kAllGather) sum.gathered += op.bytes.count(), ++sum.gathers;
        if (op.kind == OpKind::kReduceScatter) sum.reduced += op.bytes.count(), ++sum.reductions;
      }
    }
    return sum;
  };
  const Traffic layers = traffic();
  EXPECT_EQ(layers.listed, 0);
  degrees.framework.parameter_gather = ParameterGather::kTensors;
  const Traffic tensors = traffic();
  EXPECT_EQ(tensors.reduced, layers.reduced);
  // Norms and biases have 13 x 512 of 12 x 512 x 512 parameters of a block.
  EXPECT_LT(tensors.gathered, layers.gathered);
  EXPECT_GT(tensors.gathered, layers.gathered * 99 / 100);
  // A block has four matrices and two norms, each with a bias.
  EXPECT_GT(tensors.gathers, 2 * layers.gathers);
  EXPECT_GT(tensors.reductions, 8 * layers.reductions);
  EXPECT_EQ(tensors.listed, 4 * (tensors.gathers + tensors.reductions));
  EXPECT_GT(tensors.makespan, layers.makespan);
}

INSTANTIATE_TEST_SUITE_P(Tables, TensorGatherTest, testing::Values(false, true));

TEST(ShardedLoweringTest, TensorsOfALayerAddUpToItsParameters) {
  const Workload workload = MakeWorkload();
  for (const LayerKind& kind : workload.kinds) {
    for (const int tensor : {1, 2}) {
      const std::vector<int64_t> sizes = ShardTensors(kind, tensor);
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}),
                ShardParameters(kind, tensor, 1).dense)
          << kind.name;
    }
  }
}

TEST(ShardedLoweringTest, EveryRankBroadcastsItsShare) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 1;
  degrees.framework.parameter_exchange = ParameterExchange::kBroadcasts;
  const Schedule schedule = Lower(MakePlan(degrees, workload, cluster), workload, cluster);
  int broadcasts = 0;
  int64_t bytes = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Op& op = schedule.op(schedule.ops(schedule.op_sequence(task))[0]);
    EXPECT_NE(op.kind, OpKind::kAllGather);
    if (op.kind != OpKind::kBroadcast) continue;
    ++broadcasts;
    bytes += op.bytes.count();
  }
  EXPECT_EQ(broadcasts, 4);
  EXPECT_NEAR(static_cast<double>(bytes), 2.0 * static_cast<double>(workload.Parameters()), 8);
}

// Experts are divided within groups of four ranks, two ranks to an expert: parameters are gathered
// among the two ranks of a group that hold the same experts, and gradients are summed over the two
// groups.
TEST(ShardedLoweringTest, ExpertsAreShardedWithinTheirGroup) {
  const Workload workload = MakeMixtureOfExperts(4, 4);
  const Cluster cluster = MakeCluster(2, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.expert = 2;
  degrees.zero_group = 4;
  for (const int zero : {1, 2, 3}) {
    degrees.zero = zero;
    const Plan plan = MakePlan(degrees, workload, cluster);
    EXPECT_EQ(Simulate(plan, workload, cluster, false).makespan(),
              Simulate(plan, workload, cluster, true).makespan())
        << zero;
    const Schedule schedule = Lower(plan, workload, cluster);
    std::set<std::pair<OpKind, int>> seen;  // with the number of ranks
    for (const Op& op : schedule.distinct_ops()) {
      if (IsCollective(op.kind)) seen.insert({op.kind, op.fabric.ranks});
    }
    EXPECT_TRUE(seen.contains({OpKind::kReduceScatter, 2})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kReduceScatter, 4})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kAllReduce, 2})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kAllGather, 2})) << zero;
    EXPECT_FALSE(seen.contains({OpKind::kReduceScatter, 8})) << zero;
  }
  degrees.zero_group = 2;
  degrees.expert = 4;
  EXPECT_THROW(MakePlan(degrees, workload, cluster), InputError);
}

TEST(ShardedLoweringTest, OverlappedReductionIsNeverSlower) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(2, 4);
  PlanDegrees degrees = Degrees(1, 2);
  const Plan overlapped = MakePlan(degrees, workload, cluster);
  degrees.overlap_grad_reduce = false;
  const Plan exposed = MakePlan(degrees, workload, cluster);
  EXPECT_LE(Simulate(overlapped, workload, cluster, false).makespan(),
            Simulate(exposed, workload, cluster, false).makespan());
}

}  // namespace
}  // namespace stagecraft
