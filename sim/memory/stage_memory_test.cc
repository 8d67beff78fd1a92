#include "sim/memory/stage_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/memory/memory_curve.h"
#include "sim/memory/memory_testing.h"
#include "sim/memory/rank_tensors.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

StageMemory FirstOf(const PlanDegrees& degrees, const Cluster& cluster) {
  const Workload workload = MakeWorkload();
  return EstimateMemory(MakePlan(degrees, workload, cluster), workload, cluster)[0];
}

TEST(StageMemoryTest, ItemsAddUpToThePeak) {
  const Cluster cluster = MakeCluster(1, 2);
  const StageMemory memory = FirstOf(Degrees(1, 2), cluster);
  EXPECT_EQ(memory.Peak(), memory.Reserved() + memory.Outside());
  // There are a group of stages and one of those that hold a table together.
  EXPECT_EQ(memory.Outside(), ContextMemory() + 2 * NcclBuffers(2, cluster.device(0).generation));
  EXPECT_GE(memory.fragmentation, Bytes());
}

// Fragmentation is all that an estimate of tensors alone leaves out.
TEST(StageMemoryTest, TensorsAloneLackFragmentation) {
  const Cluster cluster = MakeCluster(1, 2);
  const Workload workload = MakeWorkload();
  const Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  MemoryEstimator estimator(workload, cluster);
  const std::vector<StageMemory> tensors = estimator.EstimateTensors(plan);
  std::vector<StageMemory> all = estimator.Estimate(plan);
  EXPECT_EQ(estimator.EstimateIfTensorsFit(plan), all);
  Bytes fragmentation;
  for (StageMemory& memory : all) fragmentation += std::exchange(memory.fragmentation, Bytes());
  EXPECT_GT(fragmentation, Bytes());
  EXPECT_EQ(tensors, all);
}

TEST(StageMemoryTest, EveryGroupHasBuffers) {
  const Cluster cluster = MakeCluster(1, 8);
  const Workload workload = GptOfExperts();
  const auto expect = [&](const PlanDegrees& degrees, const std::vector<int64_t>& groups) {
    const Plan plan = MakePlan(degrees, workload, cluster);
    Bytes buffers;
    for (const int64_t ranks : groups) buffers += NcclBuffers(ranks, cluster.device(0).generation);
    EXPECT_EQ(EstimateMemory(plan, workload, cluster)[0].Outside() - ContextMemory(), buffers);
  };
  PlanDegrees degrees = Degrees(1, 1);
  expect(degrees, {8});
  degrees.zero_group = 4;
  expect(degrees, {4, 2});  // ZeRO-1: those that share, and those with the same share
  degrees.zero_group = 0;
  degrees.context = 8;
  expect(degrees, {8, 8});  // the ring that sends keys, and those that reduce gradients
  degrees.context = 1;
  degrees.expert = 8;
  expect(degrees, {8, 8});
  degrees.expert = 4;
  expect(degrees, {8, 4, 2});  // two ranks hold the same experts
  degrees.tensor = 2;
  expect(degrees, {4, 4, 2});
  degrees.expert = 1;
  degrees.pipeline = 2;
  expect(degrees, {2, 2, 2, 2});  // both stages hold the table
}

// From one other rank a rank receives over one connection, from several over three.
TEST(StageMemoryTest, BuffersGrowWithTheNumberOfPeers) {
  constexpr Generation kGeneration = Generation::kAmpere;
  EXPECT_EQ(NcclBuffers(1, kGeneration), Bytes());
  EXPECT_EQ(3 * NcclBuffers(2, kGeneration), NcclBuffers(4, kGeneration));
  EXPECT_EQ(NcclBuffers(64, kGeneration), NcclBuffers(4, kGeneration));
}

TEST(StageMemoryTest, ShardingDividesWhatItShards) {
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 0;
  const StageMemory whole = FirstOf(degrees, cluster);
  degrees.zero = 3;
  const StageMemory shared = FirstOf(degrees, cluster);
  EXPECT_EQ(whole.weights, 4 * shared.weights);
  EXPECT_EQ(whole.gradients, 4 * shared.gradients);
  EXPECT_EQ(whole.optimizer, 4 * shared.optimizer);
  EXPECT_EQ(whole.activations, shared.activations);
  // Without resharding every layer is whole from forward to backward.
  degrees.reshard_after_forward = false;
  EXPECT_GT(FirstOf(degrees, cluster).workspace, shared.workspace);
}

TEST(StageMemoryTest, ACrowdedDeviceIsNearlyFull) {
  StageMemory memory;
  memory.capacity = Bytes(100);
  memory.weights = Bytes(95);
  EXPECT_FALSE(memory.IsCrowded());
  memory.weights = Bytes(96);
  EXPECT_TRUE(memory.IsCrowded());
  memory.weights = Bytes(101);
  EXPECT_FALSE(memory.IsCrowded());
}

// Shards are masters of 4 bytes, with moments of 8, in place of 2 and 12; whole layers, and the
// buffers of their gathers, are beside them.
TEST(StageMemoryTest, WrappedLayersShardTheirMasters) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  const Plan plan = MakePlan(degrees, workload, cluster);
  FrameworkMemory framework;
  const StageMemory plain = EstimateMemory(plan, workload, cluster, framework)[0];
  framework.wraps_layers = true;
  const StageMemory wrapped = EstimateMemory(plan, workload, cluster, framework)[0];
  EXPECT_EQ(wrapped.weights, 2 * plain.weights);
  EXPECT_EQ(3 * wrapped.optimizer, 2 * plain.optimizer);
  EXPECT_GT(wrapped.workspace, plain.workspace);
  // Without shards there is nothing to wrap.
  degrees.zero = 1;
  const Plan whole = MakePlan(degrees, workload, cluster);
  EXPECT_EQ(EstimateMemory(whole, workload, cluster, framework),
            EstimateMemory(whole, workload, cluster));
}

// The first micro-batch makes the gradients, so that a single one peaks without those of the layers
// that its backward has not reached.
TEST(StageMemoryTest, GradientsWithoutBuffersComeWithTheBackward) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  const auto allocated = [&](int64_t micro_batches, const FrameworkMemory& f) {
    PlanDegrees degrees = Degrees(1, 1);
    degrees.global_batch = micro_batches * degrees.micro_batch;
    return EstimateMemory(MakePlan(degrees, workload, cluster), workload, cluster, f)[0].allocated;
  };
  EXPECT_LT(allocated(1, framework), allocated(1, {}));
  EXPECT_GT(allocated(2, framework), allocated(1, framework));
  EXPECT_EQ(allocated(2, {}), allocated(1, {}));
}

// The last stage holds the logits of the micro-batch before: 2 bytes for each token and word.
TEST(StageMemoryTest, KeptOutputsTakeMemoryInEveryStage) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 2);
  PlanDegrees degrees = Degrees(1, 2);
  const Plan plan = MakePlan(degrees, workload, cluster);
  FrameworkMemory framework;
  const std::vector<StageMemory> freed = EstimateMemory(plan, workload, cluster, framework);
  framework.keeps_outputs = true;
  const std::vector<StageMemory> kept = EstimateMemory(plan, workload, cluster, framework);
  EXPECT_GT(kept[0].activations, freed[0].activations);
  EXPECT_EQ(kept[1].allocated - freed[1].allocated,
            Bytes(2 * plan.micro_batch * plan.sequence * workload.vocabulary));
}

TEST(StageMemoryTest, GroupsOfAllRanksHaveBuffersToo) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  FrameworkMemory framework;
  const Bytes own = EstimateMemory(plan, workload, cluster, framework)[0].Outside();
  framework.has_global_groups = true;
  EXPECT_EQ(
      EstimateMemory(plan, workload, cluster, framework)[0].Outside() - own,
      NcclBuffers(4, cluster.device(0).generation) + NcclBuffers(2, cluster.device(0).generation));
}

// Returns the gradients that backwards have made, when the last one is over.
Bytes MadeGradients(const Plan& plan, const Workload& workload, int stage) {
  const Cluster cluster = MakeCluster(1, plan.device_count());
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  RankTensorsMaker maker(workload, cluster, framework);
  const RankTensors rank = maker.Make(plan, stage, 0);
  int64_t made = 0;
  for (const auto& chunk : rank.chunks) made += (*chunk)[Phase::kBackward].summary.net_gradient;
  return Bytes(made);
}

// Every way of sharding leaves as many bytes of gradients behind as buffers would take, apart from
// rounding: the table of a stage with both ends once, and experts among the ranks that hold them.
TEST(StageMemoryTest, BackwardsMakeWhatBuffersWouldHold) {
  const Workload workload = GptOfExperts();
  for (const int zero : {0, 1, 2, 3}) {
    for (const int expert : {1, 2, 4}) {
      for (const int pipeline : {1, 2}) {
        PlanDegrees degrees = Degrees(1, pipeline);
        degrees.zero = zero;
        degrees.expert = expert;
        degrees.gradient_bytes = 4;
        const Cluster cluster = MakeCluster(1, 8);
        const Plan plan = MakePlan(degrees, workload, cluster);
        for (int stage = 0; stage < pipeline; ++stage) {
          const auto kept =
              static_cast<double>(EstimateMemory(plan, workload, cluster)[stage].gradients.count());
          EXPECT_NEAR(static_cast<double>(MadeGradients(plan, workload, stage).count()), kept,
                      0.001 * kept)
              << "zero " << zero << " ep " << expert << " pp " << pipeline << " stage " << stage;
        }
      }
    }
  }
}

// T5's table of words and positions counts once in a stage that holds it for decoder and head.
TEST(StageMemoryTest, AStageWithoutTheEmbeddingHoldsWhatIsTiedOnce) {
  const Workload workload = TinyT5();
  const Cluster cluster = MakeCluster(1, 2);
  Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  plan.stages[0].chunks = {{0, 2}};
  plan.stages[1].chunks = {{2, 3}};
  int64_t parameters = -128 * 64;
  for (int l = 2; l < 5; ++l) parameters += ShardParameters(workload.layer(l), 1, 1).Total();
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  EXPECT_EQ(memory[1].weights, Bytes(2 * parameters));
  EXPECT_EQ(memory[1].optimizer, Bytes(12 * parameters));
  // Tensors are rounded to 512 bytes; the table of words has 16,384.
  EXPECT_NEAR(static_cast<double>(MadeGradients(plan, workload, 1).count()),
              static_cast<double>(memory[1].gradients.count()), 4096);
}

// With the states on the host, 16-bit weights are on the device, and there is nothing to cast.
TEST(StageMemoryTest, OffloadedMastersAreNotOnTheDevice) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.offload = {.optimizer = true, .host_memory = Bytes(int64_t{1} << 40)};
  const Plan plan = MakePlan(degrees, workload, cluster);
  FrameworkMemory framework;
  const StageMemory plain = EstimateMemory(plan, workload, cluster, framework)[0];
  framework.casts_weights = true;
  framework.update = UpdateKind::kForeach;
  EXPECT_EQ(EstimateMemory(plan, workload, cluster, framework)[0], plain);
  framework.wraps_layers = true;
  const StageMemory wrapped = EstimateMemory(plan, workload, cluster, framework)[0];
  EXPECT_EQ(wrapped.weights, plain.weights);
  EXPECT_EQ(wrapped.host, plain.host);
}

// FSDP on one rank has masters that are weights, and casts of a layer at a time.
TEST(StageMemoryTest, OneRankOfWrappedLayersHasNoCopyOfItsMasters) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  const Plan plan = MakePlan(degrees, workload, cluster);
  FrameworkMemory framework;
  framework.wraps_layers = true;
  const StageMemory memory = EstimateMemory(plan, workload, cluster, framework)[0];
  EXPECT_EQ(memory.weights, Bytes(4 * workload.Parameters()));
  EXPECT_EQ(memory.optimizer, Bytes(8 * workload.Parameters()));
}

// Layers are gathered one at a time, and dropped after their forward.
TEST(StageMemoryTest, InferenceGathersLayerByLayer) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.forward_only = true;
  const Bytes usual = FirstOf(degrees, cluster).allocated;
  degrees.reshard_after_forward = false;
  EXPECT_LT(usual, FirstOf(degrees, cluster).allocated);
}

// 16-bit weights and gradients, and Adam with a master copy, take 2 + 2 + 12 bytes.
TEST(StageMemoryTest, StatesTakeSixteenBytesAParameter) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 2);
  const Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  const StageMemory memory = EstimateMemory(plan, workload, cluster)[0];
  const int64_t parameters = ChunkParameters(plan, workload, 0)[0].Total();
  EXPECT_EQ(memory.weights, Bytes(2 * parameters));
  EXPECT_EQ(memory.gradients, Bytes(2 * parameters));
  EXPECT_EQ(memory.optimizer, Bytes(12 * parameters));
}

// Pipelines in two directions hold every parameter twice, and its states are shared among the ranks
// of both stages that hold it.
TEST(StageMemoryTest, TwoDirectionsHoldTheNetworkTwice) {
  const Workload workload = MakeWorkload(14);
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 4);
  degrees.schedule = PipelineSchedule::kChimera;
  degrees.zero = 1;
  const Plan plan = MakePlan(degrees, workload, cluster);
  for (const StageMemory& memory : EstimateMemory(plan, workload, cluster)) {
    int64_t parameters = 0;
    for (const ParameterCount& chunk : ChunkParameters(plan, workload, memory.stage)) {
      parameters += chunk.Total();
    }
    EXPECT_EQ(memory.weights, Bytes(2 * parameters));
    EXPECT_EQ(memory.optimizer, Bytes(12 * parameters / 2));
  }
}

// Stages between embedding and head are equal: each holds one micro-batch less than the one before
// it.
TEST(StageMemoryTest, EarlierStagesOfOneForwardOneBackwardHoldMore) {
  const Workload workload = MakeWorkload(20);
  const Cluster cluster = MakeCluster(1, 5);
  const Plan plan = MakePlan(Degrees(1, 5), workload, cluster);
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_GT(memory[stage].activations, memory[stage + 1].activations);
  }
  EXPECT_EQ(memory[1].activations - memory[2].activations,
            memory[2].activations - memory[3].activations);
}

TEST(StageMemoryTest, RecomputationSavesActivations) {
  const Cluster cluster = MakeCluster(1, 2);
  PlanDegrees degrees = Degrees(1, 2);
  const StageMemory none = FirstOf(degrees, cluster);
  degrees.recompute = Recompute::kFull;
  const StageMemory full = FirstOf(degrees, cluster);
  EXPECT_LT(full.allocated, none.allocated);
  degrees.recompute = Recompute::kOperators;
  const StageMemory operators = FirstOf(degrees, cluster);
  EXPECT_LT(full.allocated, operators.allocated);
  EXPECT_LT(operators.allocated, none.allocated);
}

// Both sides of T5 and its head share one table.
TEST(StageMemoryTest, WhatIsTiedToTheEmbeddingCountsOnceOnItsRank) {
  const Workload workload = TinyT5();
  const Cluster cluster = MakeCluster(1, 1);
  const Plan plan = MakePlan(Degrees(1, 1), workload, cluster);
  EXPECT_EQ(EstimateMemory(plan, workload, cluster)[0].weights, Bytes(2 * workload.Parameters()));
}

void CheckCurves(const PlanDegrees& degrees, const Cluster& cluster) {
  const Workload workload = MakeWorkload(8);
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  const PlainModel model;
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  for (const CurveDetail detail : {CurveDetail::kPasses, CurveDetail::kOperators}) {
    const auto curves = MemoryOverTime(plan, workload, cluster, schedule, timeline, {}, detail);
    ASSERT_EQ(curves.size(), schedule.ranks().size());
    for (size_t rank = 0; rank < curves.size(); ++rank) {
      const StageMemory memory = EstimateReplicaMemory(
          plan, workload, cluster, schedule.ranks()[rank].stage, schedule.ranks()[rank].replica);
      Bytes peak;
      Duration time;
      for (const MemoryChange& change : curves[rank]) {
        EXPECT_GE(change.time, time);
        time = change.time;
        peak = std::max(peak, change.used);
      }
      EXPECT_EQ(peak, memory.Peak() - memory.fragmentation) << "rank " << rank;
      EXPECT_EQ(curves[rank].back().used, curves[rank].front().used);
      const size_t passes = StageOrder(plan, schedule.ranks()[rank].stage, 0).size();
      if (detail == CurveDetail::kPasses) {
        EXPECT_LE(curves[rank].size(), 2 * passes + 1);
      } else {
        EXPECT_GT(curves[rank].size(), 3 * passes);
      }
    }
  }
}

TEST(StageMemoryTest, TheCurvePeaksWhereTheEstimateSaysAndEndsWhereItBegan) {
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 4);
  CheckCurves(degrees, cluster);
  degrees.schedule = PipelineSchedule::kGpipe;
  CheckCurves(degrees, cluster);
  degrees.schedule = PipelineSchedule::kInterleaved;
  degrees.chunks = 2;
  CheckCurves(degrees, cluster);
  degrees = Degrees(1, 1);
  degrees.zero = 3;  // passes in several parts
  CheckCurves(degrees, cluster);
}

TEST(StageMemoryTest, InferenceHoldsWeightsAlone) {
  PlanDegrees degrees = Degrees(1, 1);
  degrees.forward_only = true;
  const StageMemory memory = FirstOf(degrees, MakeCluster(1, 1));
  EXPECT_EQ(memory.gradients + memory.optimizer, Bytes());
  EXPECT_GT(memory.weights, Bytes());
}

}  // namespace
}  // namespace stagecraft
