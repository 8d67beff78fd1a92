#include "sim/workload/layer_state.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kHidden = 64, kFfn = 192;

// Embedding, four blocks and a head, which share no weights.
Workload Llama() {
  const DecoderConfig config = SizedDecoder(
      "llama",
      {.layers = 4, .hidden = kHidden, .heads = 4, .ffn = kFfn, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "llama");
}

using States = std::vector<LayerState>;

// The states of all layers as they are without a file.
States Usual(const Workload& workload) { return States(workload.layers.size()); }

std::string ErrorOfStates(const Workload& workload, const States& states) {
  return ErrorOf([&] { With(workload, states); });
}

const Operator& Find(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << kind.name << " has no " << name;
  return kind.operators[0];
}

OperatorGradients GradientsOf(const LayerKind& kind, const std::string& name) {
  const std::vector<OperatorGradients> gradients = GradientsOf(kind);
  for (size_t v = 0; v < gradients.size(); ++v) {
    if (kind.operators[v].name == name) return gradients[v];
  }
  ADD_FAILURE() << kind.name << " has no " << name;
  return {};
}

TEST(LayerStateTest, UsualStatesChangeNothing) {
  EXPECT_TRUE(With(Llama(), Usual(Llama())) == Llama());
}

TEST(LayerStateTest, FreezingIsOneOfTheStates) {
  States states = Usual(Llama());
  for (const int layer : {0, 1, 3}) states[layer].is_trained = false;
  EXPECT_TRUE(With(Llama(), states) == Frozen(Llama(), {0, 1, 3}));
}

// Masks keep the zeros: the network computes what it computed before.
TEST(LayerStateTest, MaskedWeightsAreDense) {
  States states = Usual(Llama());
  for (LayerState& state : states) state.weight_density = 0.1;
  EXPECT_TRUE(With(Llama(), states) == Llama());
}

// A block has a projection to queries, keys and values, one back, and three of an MLP; of 64 x 192
// entries a hundredth is 122.88, which becomes a multiple of four. Norms, the table and the head
// stay.
TEST(LayerStateTest, SparseMatricesHaveTheirEntriesAsParameters) {
  States states = Usual(Llama());
  for (LayerState& state : states) {
    state.weight_density = 0.01;
    state.storage = WeightStorage::kCsr;
  }
  const Workload net = With(Llama(), states);
  EXPECT_EQ(net.layer(0), Llama().layer(0));
  EXPECT_EQ(net.layer(5), Llama().layer(5));
  const LayerKind& block = net.layer(1);
  EXPECT_EQ(Find(block, "mlp_down").nonzeros, 124);
  EXPECT_EQ(Find(block, "mlp_down").parameters, 124);
  EXPECT_FALSE(Find(block, "attention_norm").nonzeros.has_value());
  int64_t entries = 0;
  for (const Operator& op : block.operators) entries += op.nonzeros.value_or(0);
  EXPECT_EQ(block.Parameters(), entries + 2 * kHidden);
  // Each entry multiplies once forward and twice backward.
  EXPECT_EQ(TrainingFlopsPerToken(Find(block, "mlp_down"), {}, 128), 3 * 2 * 124.0);
}

TEST(LayerStateTest, AllOrNoneOfTheEntriesMayBeLeft) {
  States states = Usual(Llama());
  states[1].storage = states[2].storage = WeightStorage::kCsr;
  states[1].weight_density = 0;
  const Workload net = With(Llama(), states);
  EXPECT_EQ(Find(net.layer(1), "mlp_down").nonzeros, 0);
  EXPECT_FALSE(Find(net.layer(2), "mlp_down").nonzeros.has_value());  // a dense matrix
}

// Every other block computes an eighth of the rows. The others pass it by, so that stages hand on
// all rows.
TEST(LayerStateTest, RowsPassBlocksByIfLaterLayersComputeThem) {
  States states = Usual(Llama());
  states[2].token_share = states[4].token_share = 0.125;
  const Workload net = With(Llama(), states);
  for (int layer = 0; layer < 6; ++layer) EXPECT_EQ(net.layer(layer).boundary_share, 1) << layer;
  const LayerKind& block = net.layer(2);
  EXPECT_EQ(net.layers[2], net.layers[4]);
  EXPECT_EQ(net.layer(1), Llama().layer(1));
  EXPECT_EQ(Find(block, "router").row_share, 1);
  EXPECT_EQ(Find(block, "router").parameters, kHidden);
  EXPECT_EQ(Find(block, "qkv").row_share, 0.125);
  EXPECT_EQ(block.operators[block.operators.size() - 1].name, "router_scatter");
  // The block reads the rows that were gathered, and no others.
  for (const Operator& op : block.operators) {
    const bool is_router = op.name == "router" || op.name == "router_gather";
    EXPECT_EQ(op.reads_layer_input, is_router) << op.name;
  }
  // A share c of the rows takes c of the FLOPs, and c x c of those of scores.
  const auto flops = [](const LayerKind& kind, const std::string& name) {
    return ForwardFlopsPerToken(Find(kind, name), 128);
  };
  EXPECT_DOUBLE_EQ(flops(block, "qkv"), flops(net.layer(1), "qkv") / 8);
  EXPECT_DOUBLE_EQ(flops(block, "attention"), flops(net.layer(1), "attention") / 64);
}

// Rows that no later layer computes have left: they are not handed on, and there is no router.
TEST(LayerStateTest, RowsThatLeftAreNotHandedOn) {
  States states = Usual(Llama());
  const double shares[] = {1, 1, 0.5, 0.5, 0.25, 0.25};
  for (int layer = 0; layer < 6; ++layer) states[layer].token_share = shares[layer];
  const Workload net = With(Llama(), states);
  const double handed_on[] = {1, 0.5, 0.5, 0.25, 0.25, 1};
  for (int layer = 0; layer < 6; ++layer) {
    EXPECT_EQ(net.layer(layer).boundary_share, handed_on[layer]) << layer;
    for (const Operator& op : net.layer(layer).operators) EXPECT_EQ(op.row_share, shares[layer]);
  }
}

TEST(LayerStateTest, SparseAttentionComputesAShareOfTheScores) {
  States states = Usual(Llama());
  for (LayerState& state : states) state.attention_density = 0.25;
  const Workload net = With(Llama(), states);
  EXPECT_EQ(net.layer(0), Llama().layer(0));  // has no attention
  const Operator& attention = Find(net.layer(1), "attention");
  EXPECT_DOUBLE_EQ(ForwardFlopsPerToken(attention, 128),
                   ForwardFlopsPerToken(Find(Llama().layer(1), "attention"), 128) / 4);
}

// Rank 8 beside a matrix of 64 x 192 trains 8 x (64 + 192) parameters.
TEST(LayerStateTest, AdaptersAloneAreTrained) {
  States states = Usual(Llama());
  for (LayerState& state : states) state.is_trained = false;
  for (int layer = 1; layer < 5; ++layer) {
    states[layer].is_trained = true;
    states[layer].adapter_rank = 8;
  }
  const Workload net = With(Llama(), states);
  const int64_t of_block =
      8 * ((kHidden + 3 * kHidden) + (kHidden + kHidden) + (kHidden + 2 * kFfn) + (kFfn + kHidden));
  EXPECT_EQ(net.TrainedParameters(), 4 * of_block);
  EXPECT_EQ(net.Parameters(), Llama().Parameters() + 4 * of_block);
  EXPECT_TRUE(net.has_frozen_layers());
  const LayerKind& first = net.layer(1);
  EXPECT_FALSE(GradientsOf(first, "attention_norm").Any());
  EXPECT_FALSE(GradientsOf(first, "qkv").Any());
  EXPECT_FALSE(GradientsOf(first, "qkv_adapter_down").of_input);
  EXPECT_TRUE(GradientsOf(first, "qkv_adapter_down").of_weights);
  EXPECT_TRUE(GradientsOf(first, "qkv_adapter_up").of_input);
  EXPECT_TRUE(GradientsOf(first, "attention").of_input);
  EXPECT_TRUE(GradientsOf(first, "mlp_down").of_input);
  EXPECT_FALSE(GradientsOf(first, "mlp_down").of_weights);
  EXPECT_TRUE(GradientsOf(net.layer(2), "qkv").of_input);
}

TEST(LayerStateTest, ExpertsGetSharesOfTheRows) {
  DecoderConfig config = SizedDecoder(
      "llama", {.layers = 2, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  config.moe.experts = 8;
  config.moe.experts_per_token = 2;
  const Workload net = BuildDecoder(config, AttentionBackend::kFlash, "moe");
  States states = Usual(net);
  states[1].expert_rows = {3, 1, 0, 0, 0, 0, 0, 4};
  const Workload routed = With(net, states);
  int with_rows = 0;
  for (const Operator& op : routed.layer(1).operators) {
    if (op.experts == 0) continue;
    ++with_rows;
    EXPECT_EQ(op.expert_rows, (std::vector<double>{0.375, 0.125, 0, 0, 0, 0, 0, 0.5})) << op.name;
  }
  EXPECT_GT(with_rows, 2);
  EXPECT_EQ(routed.layer(2), net.layer(2));
}

TEST(LayerStateTest, LayersOfUnlikeStatesAreKindsOfTheirOwn) {
  States states = Usual(Llama());
  for (int layer = 1; layer < 5; ++layer) {
    states[layer].storage = WeightStorage::kCsr;
    states[layer].weight_density = 0.1 * layer;
  }
  states[4] = states[3];
  const Workload net = With(Llama(), states);
  EXPECT_EQ(net.layers[3], net.layers[4]);
  EXPECT_NE(net.layers[1], net.layers[2]);
  std::set<std::string> names;
  for (const LayerKind& kind : net.kinds) names.insert(kind.name);
  EXPECT_EQ(names.size(), net.kinds.size());
}

TEST(LayerStateTest, CachedLayersAreFrozenAndTheFirstOnes) {
  States states = Usual(Llama());
  states[0].is_cached = true;
  EXPECT_EQ(ErrorOfStates(Llama(), states),
            "test: got a cached output of layer 0 (embedding), which is trained, want it frozen, "
            "since it changes otherwise");
  states[0].is_trained = states[1].is_trained = states[2].is_trained = false;
  states[2].is_cached = true;
  EXPECT_EQ(ErrorOfStates(Llama(), states),
            "test: got a cached output of layer 2 (block), but none of layer 1 (block), which "
            "would run in vain, want both cached");
  states[1].is_cached = true;
  const Workload net = With(Llama(), states);
  EXPECT_TRUE(net.layer(2).is_cached);
  EXPECT_FALSE(net.layer(3).is_cached);
}

TEST(LayerStateTest, RefusesWhatCannotBeTrained) {
  States states = Usual(Llama());
  for (LayerState& state : states) state.is_trained = false;
  EXPECT_EQ(ErrorOfStates(Llama(), states),
            "test: got all 6 layers of llama, want one or more that are trained");
  states = Usual(Llama());
  states[5].token_share = 0;
  EXPECT_EQ(ErrorOfStates(Llama(), states),
            "test: got no rows for layer 5 (head), want some, since its loss trains the others");
  states = Usual(Llama());
  states[0].token_share = 0.5;
  EXPECT_EQ(ErrorOfStates(Llama(), states),
            "test: got fewer rows for layer 0 (embedding) than for layers behind it, want at least "
            "as many: rows pass blocks alone by");
  Workload profile = LinearChain(2, 8);
  profile.kinds[0].operators[0].kind = OperatorKind::kProfiled;
  states = States(2);
  states[0].token_share = 0.5;
  EXPECT_EQ(ErrorOfStates(profile, states),
            "test: got states of layers of the profile chain, want none: it says nothing of its "
            "operators but their times");
}

}  // namespace
}  // namespace stagecraft
