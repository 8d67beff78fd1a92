#include "sim/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/lowering_testing.h"
#include "sim/shard.h"

namespace stagecraft {
namespace {

TEST(MemoryTest, ShardingDividesWhatItShards) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  const auto memory = [&] {
    return EstimateMemory(MakePlan(degrees, workload, cluster), workload, cluster)[0];
  };
  degrees.zero = 0;
  const StageMemory whole = memory();
  degrees.zero = 3;
  const StageMemory shared = memory();
  EXPECT_EQ(whole.weights, 4 * shared.weights);
  EXPECT_EQ(whole.gradients, 4 * shared.gradients);
  EXPECT_EQ(whole.optimizer, 4 * shared.optimizer);
  // Without resharding every layer is whole from forward to backward.
  degrees.reshard_after_forward = false;
  EXPECT_EQ(memory().workspace - whole.workspace, whole.weights);
}

// Two stages, four micro-batches: the first holds two, the second one.
TEST(MemoryTest, EarlierStagesHoldMoreMicroBatches) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 2);
  const Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  ASSERT_EQ(memory.size(), 2u);
  const ShardSpec spec = StageShard(plan, workload, cluster, 0, 0);
  Bytes block = SavedActivations(workload.layer(1), spec).saved;
  Bytes embedding = SavedActivations(workload.layer(0), spec).saved;
  EXPECT_EQ(memory[0].activations, 2 * (3 * block + embedding));
  // 16-bit weights and gradients, Adam with a master copy: 2 + 2 + 12 bytes.
  const int64_t parameters = ChunkParameters(plan, workload, 0)[0].Total();
  EXPECT_EQ(memory[0].weights, Bytes(2 * parameters));
  EXPECT_EQ(memory[0].gradients, Bytes(2 * parameters));
  EXPECT_EQ(memory[0].optimizer, Bytes(12 * parameters));
}

TEST(MemoryTest, TheCurvePeaksWhereTheEstimateSays) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan = MakePlan(Degrees(1, 4), workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  const PlainModel model;
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  const auto curves = MemoryOverTime(plan, workload, cluster, schedule, timeline);
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  for (size_t rank = 0; rank < curves.size(); ++rank) {
    Bytes peak;
    for (const MemoryChange& change : curves[rank]) peak = std::max(peak, change.used);
    EXPECT_EQ(peak, memory[rank].Peak()) << "rank " << rank;
    EXPECT_EQ(curves[rank].back().used, curves[rank].front().used);
  }
}

}  // namespace
}  // namespace stagecraft
