#include "sim/memory/held_states.h"

#include <gtest/gtest.h>

#include <vector>

#include "costmodel/units.h"
#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/memory_testing.h"
#include "sim/memory/model_states.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kTable = 1024 * 256;

FrameworkMemory Wrapped() {
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  framework.wraps_layers = true;
  return framework;
}

// Held is what the layers of a stage hold for a while, one chunk after another.
struct Held {
  std::vector<ParameterCount> parameters;
  std::vector<ChunkLayer> layers;
  Bytes staying;
};

Held HeldBy(const Plan& plan, const Workload& workload, int stage,
            const FrameworkMemory& framework) {
  const StateSharing sharing = SharingOf(plan, workload, stage, framework);
  const HeldStates states(plan, workload, stage, sharing, framework);
  const Stage& s = plan.stages[stage];
  Held held;
  std::vector<std::vector<HeldParameters>> by_chunk;
  for (const LayerRange& chunk : s.chunks) {
    std::vector<HeldParameters>& parameters = by_chunk.emplace_back();
    for (int l = chunk.first; l < chunk.first + chunk.count; ++l) {
      const LayerKind& kind = workload.layer(l);
      parameters.push_back({ShardParameters(kind, s.tensor_parallel, s.expert_parallel),
                            ShardTrained(kind, s.tensor_parallel, s.expert_parallel)});
      held.parameters.push_back(parameters.back().all);
    }
    std::vector<ChunkLayer> layers(chunk.count);
    states.Set(chunk, parameters, layers);
    held.layers.insert(held.layers.end(), layers.begin(), layers.end());
  }
  held.staying = states.StayGathered(by_chunk);
  return held;
}

Plan Sharded(const Workload& workload, int devices, int zero, int pipeline = 1, int expert = 1) {
  PlanDegrees degrees = Degrees(1, pipeline);
  degrees.zero = zero;
  degrees.expert = expert;
  degrees.gradient_bytes = 4;
  return MakePlan(degrees, workload, MakeCluster(1, devices));
}

// There are 8 data-parallel ranks. Each share of the experts is held by 2 of them, or by 1, which
// then neither gathers nor reduces it.
TEST(HeldStatesTest, ExpertsAreSharedAmongTheirHolders) {
  const Workload workload = GptOfExperts();
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  for (const int zero : {2, 3}) {
    const Held two = HeldBy(Sharded(workload, 8, zero, 1, 4), workload, 0, framework);
    const ParameterCount block = two.parameters[1];
    ASSERT_GT(block.expert, 0);
    EXPECT_EQ(two.layers[1].gathered, Bytes(zero < 3 ? 0 : 2 * block.Total()));
    EXPECT_EQ(two.layers[1].gradients, Bytes(4 * block.Total()));
    EXPECT_EQ(two.layers[1].made, Bytes(4 * (block.dense / 8 + block.expert / 2)));
    const Held one = HeldBy(Sharded(workload, 8, zero, 1, 8), workload, 0, framework);
    const ParameterCount alone = one.parameters[1];
    EXPECT_EQ(one.layers[1].gathered, Bytes(zero < 3 ? 0 : 2 * alone.dense));
    EXPECT_EQ(one.layers[1].gradients, Bytes(4 * alone.dense));
    EXPECT_EQ(one.layers[1].made, Bytes(4 * (alone.dense / 8 + alone.expert)));
  }
}

// Weights that stay gathered are not beside those that nobody shares.
TEST(HeldStatesTest, WhatOneRankHoldsIsNotGatheredBesideIt) {
  const Workload workload = GptOfExperts();
  Plan plan = Sharded(workload, 8, 3, 1, 8);
  plan.reshard_after_forward = false;
  const Held held = HeldBy(plan, workload, 0, {});
  int64_t dense = -kTable;  // the head shares it
  for (const ParameterCount& layer : held.parameters) dense += layer.dense;
  EXPECT_EQ(held.staying, Bytes(2 * dense));
  for (const ChunkLayer& layer : held.layers) EXPECT_EQ(layer.gathered, Bytes());
}

// FSDP casts its 32-bit shards of experts even where only one rank holds them.
TEST(HeldStatesTest, WrappedExpertsAreCastButNotGathered) {
  const Workload workload = GptOfExperts();
  const Held held = HeldBy(Sharded(workload, 8, 3, 1, 8), workload, 0, Wrapped());
  const ParameterCount block = held.parameters[1];
  EXPECT_EQ(held.layers[1].gathered, Bytes(2 * block.Total()));
  EXPECT_EQ(held.layers[1].gather_buffer, Bytes(2 * block.dense));
  EXPECT_EQ(held.layers[1].gradients, Bytes(2 * block.Total()));
  EXPECT_EQ(held.layers[1].reduce_buffer, Bytes(4 * block.dense));
  EXPECT_EQ(held.layers[1].made, Bytes(4 * (block.dense / 8 + block.expert)));
}

// The gradient of the table is one tensor from the backward of the head to that of the embedding,
// after which the ranks share it.
TEST(HeldStatesTest, ATiedTableHasOneGradientOnAStageWithBothEnds) {
  const Workload workload = MakeWorkload();
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  for (const int zero : {2, 3}) {
    const Held held = HeldBy(Sharded(workload, 4, zero), workload, 0, framework);
    const int64_t first = held.parameters.front().dense;
    const int64_t last = held.parameters.back().dense;
    EXPECT_EQ(held.layers.front().gradients, Bytes(4 * (first - kTable)));
    EXPECT_EQ(held.layers.front().last_gradients, Bytes());
    EXPECT_EQ(held.layers.front().made, Bytes(first));
    EXPECT_EQ(held.layers.back().gradients, Bytes(4 * (last - kTable)));
    EXPECT_EQ(held.layers.back().last_gradients, Bytes(4 * kTable));
    EXPECT_EQ(held.layers.back().made, Bytes(last - kTable));
  }
}

TEST(HeldStatesTest, ATiedTableHasAGradientOnEachOfTwoStages) {
  const Workload workload = MakeWorkload();
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  const Plan plan = Sharded(workload, 8, 2, 2);
  const Held head = HeldBy(plan, workload, 1, framework);
  EXPECT_EQ(HeldBy(plan, workload, 0, framework).layers.front().made,
            Bytes(HeldBy(plan, workload, 0, framework).parameters.front().dense));
  EXPECT_EQ(head.layers.back().made, Bytes(head.parameters.back().dense));
  EXPECT_EQ(head.layers.back().gradients, Bytes(4 * head.parameters.back().dense));
  EXPECT_EQ(head.layers.back().last_gradients, Bytes());
}

// In a V both ends are on the first stage, but the chunks run backward one after the other.
TEST(HeldStatesTest, ChunksReduceATiedTableOneAfterTheOther) {
  const Workload workload = MakeWorkload(8);
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  PlanDegrees degrees = Degrees(1, 2);
  degrees.schedule = PipelineSchedule::kZeroBubbleV;
  degrees.chunks = 2;
  degrees.zero = 2;
  degrees.gradient_bytes = 4;
  const Plan plan = MakePlan(degrees, workload, MakeCluster(1, 8));
  const Held held = HeldBy(plan, workload, 0, framework);
  const int64_t first = held.parameters.front().dense;
  EXPECT_EQ(held.layers.front().gradients, Bytes(4 * first));
  EXPECT_EQ(held.layers.front().made, Bytes(first - kTable));
  EXPECT_EQ(held.layers.back().gradients, Bytes(4 * held.parameters.back().dense));
  EXPECT_EQ(held.layers.back().made, Bytes(held.parameters.back().dense));
}

// Embedding, norm and head are one group of FSDP: it is gathered at the start, and reduced when the
// backward is over.
TEST(HeldStatesTest, TheTablesAreOneGroupIfLayersAreWrapped) {
  const Workload workload = MakeWorkload();
  const Held held = HeldBy(Sharded(workload, 4, 3), workload, 0, Wrapped());
  const int64_t first = held.parameters.front().dense;
  const int64_t last = held.parameters.back().dense;
  const int64_t root = first + last - kTable;
  EXPECT_EQ(held.staying, Bytes(2 * root));
  EXPECT_EQ(held.layers.front().gather_buffer, Bytes(2 * root));
  EXPECT_EQ(held.layers.front().gathered, Bytes());
  EXPECT_FALSE(held.layers.front().gathers_again);
  EXPECT_EQ(held.layers.front().last_gradients, Bytes(2 * (first - kTable)));
  EXPECT_EQ(held.layers.front().last_buffer, Bytes(4 * root));
  EXPECT_EQ(held.layers.front().last_made, Bytes(root));
  EXPECT_EQ(held.layers.back().last_gradients, Bytes(2 * last));
  EXPECT_EQ(held.layers.back().last_buffer, Bytes());
  EXPECT_EQ(held.layers.back().made, Bytes());
}

TEST(HeldStatesTest, FrozenTablesAreGatheredButNotReduced) {
  Workload workload = MakeWorkload();
  workload = Frozen(std::move(workload), {0, workload.layer_count() - 1});
  const Held held = HeldBy(Sharded(workload, 4, 3), workload, 0, Wrapped());
  EXPECT_GT(held.layers.front().gather_buffer, Bytes());
  for (const ChunkLayer& layer : {held.layers.front(), held.layers.back()}) {
    EXPECT_EQ(layer.last_gradients + layer.last_buffer + layer.last_made, Bytes());
  }
  EXPECT_GT(held.layers[1].reduce_buffer, Bytes());
}

// On one rank FSDP still casts weights and gradients, but nothing is exchanged.
TEST(HeldStatesTest, OneRankCastsItsWrappedLayers) {
  const Workload workload = MakeWorkload();
  const Held held = HeldBy(Sharded(workload, 1, 3), workload, 0, Wrapped());
  const int64_t block = held.parameters[1].dense;
  EXPECT_EQ(held.layers[1].gathered, Bytes(2 * block));
  EXPECT_EQ(held.layers[1].gradients, Bytes(2 * block));
  EXPECT_EQ(held.layers[1].made, Bytes(4 * block));
  EXPECT_EQ(held.layers[1].gather_buffer + held.layers[1].reduce_buffer, Bytes());
}

}  // namespace
}  // namespace stagecraft
