// What a rank holds of a tensor that layers share, and of the heads of exits.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/layer_tensors.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
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

Workload Llama() {
  return BuildDecoder(
      SizedDecoder("llama",
                   {.layers = 6, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512}),
      AttentionBackend::kFlash, "llama");
}

Workload WithExits(const Workload& workload, const std::vector<int>& layers, ExitHead head) {
  States states(workload.layers.size());
  for (const int layer : layers) states[layer].exit_head = head;
  return With(workload, states);
}

std::vector<StageMemory> MemoryOf(const Workload& workload, int stages,
                                  const FrameworkMemory& framework = {}) {
  const Cluster cluster = MakeCluster(1, stages);
  return EstimateMemory(MakePlan(Degrees(1, stages), workload, cluster), workload, cluster,
                        framework);
}

// Gradients have 2 bytes and Adam's states 12.
TEST(TiedMemoryTest, ADetachedTableHasOneGradientAndState) {
  const Workload net = Detached(MakeWorkload(), 4);
  const StageMemory memory = MemoryOf(net, 1)[0];
  EXPECT_EQ(memory.weights, Bytes(2 * net.Parameters()));
  EXPECT_EQ(memory.gradients, Bytes(2 * net.TrainedParameters()));
  EXPECT_EQ(memory.optimizer, Bytes(12 * net.TrainedParameters()));
}

TEST(TiedMemoryTest, TheFirstStageHoldsACopyOfTheTableAndNothingElse) {
  const Workload net = Detached(MakeWorkload(), 4);
  const std::vector<StageMemory> stages = MemoryOf(net, 2);
  EXPECT_EQ(stages[0].gradients, Bytes());
  EXPECT_EQ(stages[0].optimizer, Bytes());
  EXPECT_EQ(stages[0].activations, Bytes());
  EXPECT_EQ(stages[0].weights + stages[1].weights, Bytes(2 * (net.Parameters() + kTable)));
  EXPECT_EQ(stages[1].gradients, Bytes(2 * net.TrainedParameters()));
  EXPECT_EQ(stages[1].optimizer, Bytes(12 * net.TrainedParameters()));
}

// Without gradient buffers the backward of the head makes the whole gradient of the table, which
// the embedding would else add to; the peak is that of the first block that is trained.
TEST(TiedMemoryTest, TheBackwardOfTheHeadMakesTheGradientOfADetachedTable) {
  FrameworkMemory framework;
  framework.keeps_gradients = false;
  for (const int frozen : {1, 4}) {
    const Workload net = Detached(MakeWorkload(), frozen);
    EXPECT_EQ(MemoryOf(net, 1, framework)[0].gradients, Bytes(2 * net.TrainedParameters()));
  }
}

// An own head has a norm and a matrix. A tied one shares the matrix with the last layer, of which a
// stage without that layer holds a copy, with its gradient and states.
TEST(TiedMemoryTest, HeadsOfExitsTakeTheirParameters) {
  const Workload plain = Llama();
  const auto added = [&](const std::vector<int>& layers, ExitHead head, int stages, int stage) {
    const StageMemory with = MemoryOf(WithExits(plain, layers, head), stages)[stage];
    const StageMemory without = MemoryOf(plain, stages)[stage];
    const Bytes weights = with.weights - without.weights;
    EXPECT_EQ(with.gradients - without.gradients, weights);
    EXPECT_EQ(with.optimizer - without.optimizer, 6 * weights);
    EXPECT_GT(with.activations, without.activations);
    return weights.count() / 2;
  };
  EXPECT_EQ(added({2}, ExitHead::kOwn, 1, 0), 256 + kTable);
  EXPECT_EQ(added({1, 2}, ExitHead::kOwn, 2, 0), 2 * (256 + kTable));
  EXPECT_EQ(added({2}, ExitHead::kTied, 1, 0), 256);
  EXPECT_EQ(added({2}, ExitHead::kTied, 2, 0), 256 + kTable);
  EXPECT_EQ(added({1, 2}, ExitHead::kTied, 2, 0), 2 * 256 + kTable);
  EXPECT_EQ(added({5}, ExitHead::kTied, 2, 1), 256);
}

TEST(TiedMemoryTest, ExitsOfANetworkWithOneTableShareItInBothStages) {
  const Workload plain = MakeWorkload();
  const auto weights = [&](const Workload& net, int stage) {
    return MemoryOf(net, 2)[stage].weights.count() / 2;
  };
  const Workload exits = WithExits(plain, {2, 5}, ExitHead::kTied);
  EXPECT_EQ(weights(exits, 0) - weights(plain, 0), 2 * 256);  // the norm has biases
  EXPECT_EQ(weights(exits, 1) - weights(plain, 1), 2 * 256);
}

// With 256 rows of 16 bits a feature takes 512 B. An exit keeps the inputs of its norm and of its
// matrix, and the softmax of the logits in 32 bits.
TEST(TiedMemoryTest, AnExitKeepsWhatItsBackwardReads) {
  ShardSpec spec;
  spec.sequence = 256;
  const auto kept = [&](const LayerKind& layer) {
    const LayerTensors tensors = TraceLayer(layer, spec, {}, /*forward_only=*/false);
    ChunkLayer one;
    one.tensors = &tensors;
    one.has_backward = layer.has_backward();
    return JoinLayers({&one, 1})[Phase::kForward].summary.net;
  };
  const Workload net = WithExits(Llama(), {2}, ExitHead::kOwn);
  EXPECT_EQ(kept(net.layer(2)) - kept(net.layer(1)), (256 + 256 + 2 * 1024) * 512);
}

}  // namespace
}  // namespace stagecraft
