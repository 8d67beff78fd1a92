#include "sim/memory/chunk_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/layer_tensors.h"
#include "sim/memory/memory_testing.h"

namespace stagecraft {
namespace {

// A copy of this layer's weights exists while this layer and the one before it run.
TEST(ChunkTensorsTest, ShardedWeightsAreGatheredOneLayerAhead) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, true);
  constexpr Bytes kWeights(1 << 20);
  ChunkLayer layer;
  layer.tensors = &tensors;
  layer.gathered = kWeights;
  const std::vector<ChunkLayer> layers(3, layer);
  const PassSummary forward = JoinLayers(layers)[Phase::kForward].summary;
  EXPECT_EQ(forward.peak, 2 * kWeights.count() + 12 * kFeature);
  EXPECT_EQ(forward.net, 0);
}

// Gradients of a layer go into a buffer when its backward ends, which is there until the next one's
// ends; a gather has a buffer beside the weights.
TEST(ChunkTensorsTest, BuffersOfCollectivesComeFromPoolsOfTheirOwn) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, false);
  ChunkLayer layer;
  layer.tensors = &tensors;
  layer.gathered = layer.gather_buffer = layer.gradients = Bytes(2 << 20);
  layer.reduce_buffer = Bytes(4 << 20);
  layer.made = Bytes(1 << 20);
  const std::vector<ChunkLayer> layers(3, layer);
  const ChunkTensors chunk = JoinLayers(layers);
  std::array<int64_t, kTensorPools> held = {}, most = {};
  for (const TensorEvent& event : chunk[Phase::kBackward].tensors.events) {
    const auto pool = static_cast<size_t>(event.pool);
    held[pool] += event.change;
    most[pool] = std::max(most[pool], held[pool]);
  }
  EXPECT_EQ(most[static_cast<size_t>(TensorPool::kGather)], 2 * (2 << 20));
  // What is made of the gradients stays there, too.
  EXPECT_EQ(most[static_cast<size_t>(TensorPool::kReduce)], 2 * (4 << 20) + 3 * (1 << 20));
  EXPECT_EQ(held[static_cast<size_t>(TensorPool::kGather)], 0);
  EXPECT_EQ(held[static_cast<size_t>(TensorPool::kReduce)], 3 * (1 << 20));
  EXPECT_EQ(chunk[Phase::kBackward].summary.net_gradient, 3 * (1 << 20));
  EXPECT_EQ(chunk[Phase::kBackward].later.net_gradient, 0);
}

// The gradients of the second layer wait for the first one's backward; then all are copied into one
// buffer, which leaves a share of them behind.
TEST(ChunkTensorsTest, GradientsThatAreReducedLastStayForTheWholeBackward) {
  const LayerTensors none;
  std::vector<ChunkLayer> layers(2);
  for (ChunkLayer& layer : layers) layer.tensors = &none;
  layers[1].last_gradients = Bytes(1024);
  layers[0].gradients = Bytes(512);
  layers[0].last_gradients = Bytes(512);
  layers[0].last_buffer = Bytes(2048);
  layers[0].last_made = Bytes(512);
  const ChunkTensors chunk = JoinLayers(layers);
  std::vector<int64_t> changes;
  for (const TensorEvent& event : chunk[Phase::kBackward].tensors.events) {
    changes.push_back(event.change);
  }
  EXPECT_EQ(changes, (std::vector<int64_t>{1024, 512, 512, -512, 2048, -512, -1024, 512, -2048}));
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, 512);
  EXPECT_EQ(chunk[Phase::kBackward].later.net, 0);
  EXPECT_TRUE(chunk[Phase::kForward].tensors.events.empty());
}

TEST(ChunkTensorsTest, WeightsThatStayAreNotGatheredForTheBackward) {
  const LayerTensors none;
  ChunkLayer layer;
  layer.tensors = &none;
  layer.gather_buffer = Bytes(1024);
  layer.gathers_again = false;
  const ChunkTensors chunk = JoinLayers({&layer, 1});
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, 1024);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 0);
}

// Two layers of 8 features in and out that recompute together keep the first one's input. In the
// backward the second one's input, its output and the gradient of its output exist at once.
TEST(ChunkTensorsTest, ARangeKeepsOneInputAndRunsAgainAsAWhole) {
  LayerKind layer = OneLinear();
  layer.operators[0] = Linear(8, 8);
  layer.operators[0].reads_layer_input = true;
  ShardSpec spec = Spec();
  spec.recompute = Recompute::kFull;
  const LayerTensors first = TraceLayer(layer, spec, {}, false);
  const LayerTensors second = TraceLayer(layer, spec, {}, false, {.keeps_input = false});
  std::vector<ChunkLayer> layers(2);
  layers[0].tensors = &first;
  layers[1].tensors = &second;
  layers[1].repeats = 2;
  const ChunkTensors chunk = JoinLayers(layers);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 8 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 24 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -8 * kFeature);
}

}  // namespace
}  // namespace stagecraft
