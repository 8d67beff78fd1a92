// What a rank holds if the layers of its network are in some state.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kWidth = 256;
constexpr int64_t kMatrix = kWidth * kWidth;

using States = std::vector<LayerState>;

StageMemory MemoryOf(const Workload& workload, int zero = 0) {
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = zero;
  return EstimateMemory(MakePlan(degrees, workload, cluster), workload, cluster)[0];
}

TEST(LayerStateMemoryTest, MasksSaveNothing) {
  LayerState state;
  state.weight_density = 0.1;
  const Workload chain = LinearChain(4, kWidth);
  const StageMemory masked = MemoryOf(With(chain, States(4, state)));
  const StageMemory dense = MemoryOf(chain);
  EXPECT_EQ(masked.weights, dense.weights);
  EXPECT_EQ(masked.Peak(), dense.Peak());
}

// An entry has 2 bytes, its column has 4, and so has each place where one of 256 rows begins or the
// last one ends. Only entries have gradients and Adam's states. ZeRO divides entries, but not what
// says where they are.
TEST(LayerStateMemoryTest, SparseMatricesTakeTheirEntries) {
  LayerState state;
  state.weight_density = 0.25;
  state.storage = WeightStorage::kCsr;
  const Workload chain = With(LinearChain(4, kWidth), States(4, state));
  constexpr int64_t kEntries = kMatrix / 4;
  constexpr int64_t kIndices = 4 * 4 * (kEntries + kWidth + 1);
  const StageMemory whole = MemoryOf(chain);
  EXPECT_EQ(whole.weights, Bytes(4 * 2 * kEntries + kIndices));
  EXPECT_EQ(whole.gradients, Bytes(4 * 2 * kEntries));
  EXPECT_EQ(whole.optimizer, Bytes(4 * 12 * kEntries));
  const StageMemory shared = MemoryOf(chain, 3);
  EXPECT_EQ(shared.weights, Bytes(4 * 2 * kEntries / 4 + kIndices));
  EXPECT_EQ(shared.optimizer, Bytes(4 * 12 * kEntries / 4));
}

// Rank 8 beside 256 x 256 adds 16 x 256 weights, which alone have gradients and states.
TEST(LayerStateMemoryTest, AdaptersAloneHaveGradientsAndStates) {
  LayerState state;
  state.adapter_rank = 8;
  const StageMemory memory = MemoryOf(With(LinearChain(4, kWidth), States(4, state)));
  constexpr int64_t kAdapter = 16 * kWidth;
  EXPECT_EQ(memory.weights, Bytes(4 * 2 * (kMatrix + kAdapter)));
  EXPECT_EQ(memory.gradients, Bytes(4 * 2 * kAdapter));
  EXPECT_EQ(memory.optimizer, Bytes(4 * 12 * kAdapter));
}

Workload Llama() {
  return BuildDecoder(
      SizedDecoder("llama",
                   {.layers = 4, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512}),
      AttentionBackend::kFlash, "llama");
}

// Only blocks are on a quarter of the rows, and keep the activations of these.
TEST(LayerStateMemoryTest, LayersOnSomeRowsKeepAShareOfTheActivations) {
  States some(6), none(6);
  for (int layer = 1; layer < 5; ++layer) {
    some[layer].token_share = 0.25;
    none[layer].token_share = 0;
  }
  const auto activations = [&](const States& states) {
    return static_cast<double>(MemoryOf(With(Llama(), states)).activations.count());
  };
  const double all = activations(States(6));
  EXPECT_LT(activations(some), 0.5 * all);
  EXPECT_LT(activations(none), activations(some));
}

// A cached layer holds its weights, and nothing else.
TEST(LayerStateMemoryTest, CachedLayersMakeNothing) {
  States frozen(6);
  for (int layer = 0; layer < 5; ++layer) frozen[layer].is_trained = false;
  States cached = frozen;
  for (int layer = 0; layer < 5; ++layer) cached[layer].is_cached = true;
  const Cluster cluster = MakeCluster(1, 2);
  const auto memory = [&](const States& states) {
    const Workload net = With(Llama(), states);
    return EstimateMemory(MakePlan(Degrees(1, 2), net, cluster), net, cluster)[0];
  };
  EXPECT_EQ(memory(cached).weights, memory(frozen).weights);
  EXPECT_EQ(memory(cached).activations, Bytes());
  EXPECT_LT(memory(cached).Peak(), memory(frozen).Peak());
}

}  // namespace
}  // namespace stagecraft
