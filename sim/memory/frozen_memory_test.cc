// These tests are about what a rank holds if some layers are frozen.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/memory_testing.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

// Sums what one forward through a layer leaves behind.
int64_t Kept(const LayerKind& layer, const ShardSpec& spec = Spec()) {
  return Trace(layer, spec)[Phase::kForward].summary.net;
}

TEST(FrozenMemoryTest, AnInputIsKeptForTheGradientOfTheWeightsAlone) {
  const Workload chain = Frozen(LinearChain(5, 4), {0, 3});
  EXPECT_EQ(Kept(chain.layer(0)), 0);
  EXPECT_EQ(Kept(chain.layer(1)), 4 * kFeature);
  EXPECT_EQ(Kept(chain.layer(2)), 4 * kFeature);
  EXPECT_EQ(Kept(chain.layer(3)), 0);
}

// A backward makes the gradient of the output and, where it is needed, that of the input.
TEST(FrozenMemoryTest, BackwardsMakeOnlyTheGradientsThatAreNeeded) {
  const Workload chain = Frozen(LinearChain(5, 4), {0, 3});
  const auto peak = [&](int layer) {
    return Trace(chain.layer(layer), Spec())[Phase::kBackward].summary.peak;
  };
  EXPECT_EQ(peak(0), 0);
  EXPECT_EQ(peak(1), 4 * kFeature);
  EXPECT_EQ(peak(2), 8 * kFeature);
  EXPECT_EQ(peak(3), 8 * kFeature);
  EXPECT_TRUE(Trace(chain.layer(0), Spec())[Phase::kBackward].tensors.events.empty());
}

// In two passes: a trained layer leaves its input and the gradient of its output behind, a frozen
// one nothing.
TEST(FrozenMemoryTest, SplitBackwardsLeaveNothingBehindForFrozenWeights) {
  const Workload chain = Frozen(LinearChain(5, 4), {0, 3});
  const auto left = [&](int layer) {
    const ChunkTensors chunk = Trace(chain.layer(layer), Spec());
    return chunk[Phase::kForward].summary.net + chunk[Phase::kBackwardInput].summary.net;
  };
  EXPECT_EQ(left(0), 0);
  EXPECT_EQ(left(2), 8 * kFeature);
  EXPECT_EQ(left(3), 0);
  EXPECT_TRUE(Trace(chain.layer(3), Spec())[Phase::kBackwardWeight].tensors.events.empty());
}

// A frozen block behind a trained one does not keep the inputs of its GEMMs, which are as wide as
// the layer (twice) and as its MLP; that of the projection is kept, since it is what fused
// attention made.
TEST(FrozenMemoryTest, AFrozenBlockKeepsAllButTheInputsOfItsGemms) {
  const Workload all = BuildDecoder(
      SizedDecoder(
          "llama",
          {.layers = 3, .hidden = 64, .heads = 4, .ffn = 192, .vocab = 128, .max_sequence = 256}),
      AttentionBackend::kFlash, "llama");
  const Workload net = Frozen(all, {2});
  EXPECT_EQ(Kept(all.layer(2)) - Kept(net.layer(2)), (64 + 64 + 192) * kFeature);
  EXPECT_GT(Kept(net.layer(2)), 0);
  const Workload prefix = Frozen(all, {0, 1, 2});
  EXPECT_EQ(Kept(prefix.layer(2)), 0);
}

TEST(FrozenMemoryTest, LayersWithoutABackwardKeepNoInputForRecomputation) {
  ShardSpec spec = Spec();
  spec.recompute = Recompute::kFull;
  const Workload chain = Frozen(LinearChain(5, 4), {0, 3});
  EXPECT_EQ(Kept(chain.layer(0), spec), 0);
  EXPECT_EQ(Kept(chain.layer(1), spec), 4 * kFeature);
  EXPECT_EQ(Kept(chain.layer(3), spec), 4 * kFeature);  // what it recomputes from
}

// Adam with a master copy takes 12 bytes a parameter; gradients have 2 bytes in 16 bits.
TEST(FrozenMemoryTest, FrozenParametersTakeTheirWeightsAlone) {
  constexpr int64_t kMatrix = 256 * 256;
  const Workload chain = Frozen(LinearChain(6, 256), {0, 1, 3});
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  const auto estimate = [&](int zero) {
    degrees.zero = zero;
    return EstimateMemory(MakePlan(degrees, chain, cluster), chain, cluster)[0];
  };
  const StageMemory whole = estimate(0);
  EXPECT_EQ(whole.weights, Bytes(6 * 2 * kMatrix));
  EXPECT_EQ(whole.gradients, Bytes(3 * 2 * kMatrix));
  EXPECT_EQ(whole.optimizer, Bytes(3 * 12 * kMatrix));
  EXPECT_EQ(estimate(1).optimizer, Bytes(3 * 12 * kMatrix / 4));
  EXPECT_EQ(estimate(2).gradients, Bytes(3 * 2 * kMatrix / 4));
  EXPECT_EQ(estimate(3).weights, Bytes(6 * 2 * kMatrix / 4));
}

TEST(FrozenMemoryTest, AFrozenStageHoldsItsWeightsAndNothingInFlight) {
  const Workload chain = Frozen(LinearChain(4, 256), {0, 1});
  const Cluster cluster = MakeCluster(1, 2);
  const Plan plan = MakePlan(Degrees(1, 2), chain, cluster);
  const std::vector<StageMemory> stages = EstimateMemory(plan, chain, cluster);
  EXPECT_EQ(stages[0].weights, Bytes(2 * 2 * 256 * 256));
  EXPECT_EQ(stages[0].gradients, Bytes());
  EXPECT_EQ(stages[0].optimizer, Bytes());
  EXPECT_EQ(stages[0].activations, Bytes());
  EXPECT_GT(stages[1].activations, Bytes());
}

// Three layers of one gathered feature each: in the forward two of them exist at once, in the
// backward only the last, which alone has one.
TEST(FrozenMemoryTest, WeightsAreNotGatheredForLayersWithoutABackward) {
  const LayerTensors nothing;
  std::vector<ChunkLayer> layers(3);
  for (ChunkLayer& layer : layers) {
    layer.tensors = &nothing;
    layer.gathered = Bytes(kFeature);
    layer.has_backward = false;
  }
  layers.back().has_backward = true;
  layers.back().gradients = Bytes(kFeature);
  const ChunkTensors chunk = JoinLayers(layers);
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, 2 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 2 * kFeature);  // its weights and gradients
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, 0);
  layers.back().gradients = Bytes();
  EXPECT_EQ(JoinLayers(layers)[Phase::kBackward].summary.peak, kFeature);
}

}  // namespace
}  // namespace stagecraft
