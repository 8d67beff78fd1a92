#include "sim/workload/layer_gradients.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"

namespace stagecraft {
namespace {

// Embedding, four blocks and a head, which share no weights.
Workload Llama() {
  const DecoderConfig config = SizedDecoder(
      "llama", {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "llama");
}

// The same for a network whose head has the weights of its embedding.
Workload Gpt() {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "gpt");
}

OperatorGradients Of(const LayerKind& kind, const std::string& name) {
  const std::vector<OperatorGradients> gradients = GradientsOf(kind);
  for (size_t v = 0; v < gradients.size(); ++v) {
    if (kind.operators[v].name == name) return gradients[v];
  }
  throw InputError(kind.name + " has no " + name);
}

std::string ErrorOfFreezing(const Workload& workload, const std::vector<int>& layers) {
  return ErrorOf([&] { Frozen(workload, layers); });
}

TEST(LayerGradientsTest, ABackwardEndsAtTheFirstTrainedLayer) {
  const Workload chain = Frozen(LinearChain(4, 8), {0, 1});
  EXPECT_FALSE(chain.layer(0).has_backward());
  EXPECT_FALSE(chain.layer(1).has_backward());
  const OperatorGradients first = GradientsOf(chain.layer(2))[0];
  EXPECT_FALSE(first.of_input);
  EXPECT_TRUE(first.of_weights);
  const OperatorGradients last = GradientsOf(chain.layer(3))[0];
  EXPECT_TRUE(last.of_input);
  EXPECT_TRUE(last.of_weights);
}

TEST(LayerGradientsTest, AGradientPassesThroughFrozenLayersBehindTrainedOnes) {
  const Workload chain = Frozen(LinearChain(3, 8), {1});
  EXPECT_TRUE(chain.layer(1).has_backward());
  const OperatorGradients frozen = GradientsOf(chain.layer(1))[0];
  EXPECT_TRUE(frozen.of_input);
  EXPECT_FALSE(frozen.of_weights);
  EXPECT_TRUE(GradientsOf(chain.layer(0))[0].of_weights);
}

TEST(LayerGradientsTest, LayersWithUnlikeBackwardsAreKindsOfTheirOwn) {
  const Workload net = Frozen(Llama(), {0, 1, 2});
  EXPECT_EQ(net.layers[1], net.layers[2]);
  EXPECT_NE(net.layers[2], net.layers[3]);  // the first trained one
  EXPECT_NE(net.layers[3], net.layers[4]);
  std::set<std::string> names;
  for (const LayerKind& kind : net.kinds) names.insert(kind.name);
  EXPECT_EQ(names.size(), net.kinds.size());
  EXPECT_EQ(net.layer(1).operators, Llama().layer(1).operators);
}

// A block has 4 h^2 weights of attention, 3 h f of its MLP and two norms; the head has another
// norm, and its matrix.
TEST(LayerGradientsTest, FrozenParametersAreNotCountedAsTrained) {
  const Workload all = Llama();
  const Workload net = Frozen(all, {0, 1, 2});
  EXPECT_EQ(all.TrainedParameters(), all.Parameters());
  EXPECT_EQ(net.Parameters(), all.Parameters());
  EXPECT_EQ(net.TrainedParameters(), 2 * all.layer(3).Parameters() + 64 + 64 * 100);
}

// In units of a forward through one layer, 2 x 8 x 8 FLOPs: the first of all layers counts both
// gradients, like any other, if none is frozen.
TEST(LayerGradientsTest, FlopsAreThoseOfTheGradientsThatAreNeeded) {
  const auto flops = [](const std::vector<int>& frozen) {
    return Frozen(LinearChain(3, 8), frozen).TrainingFlopsPerToken(16).count() / (2 * 8 * 8);
  };
  EXPECT_EQ(flops({}), 3 + 3 + 3);
  EXPECT_EQ(flops({0}), 1 + 2 + 3);
  EXPECT_EQ(flops({1}), 3 + 2 + 3);
  EXPECT_EQ(flops({0, 1}), 1 + 1 + 2);
  EXPECT_EQ(Frozen(LinearChain(3, 8), {0, 1}).ForwardFlopsPerToken(16).count(), 3 * 2 * 8 * 8);
}

// The norm in front of the first trained attention is trained itself, so what follows it needs all
// gradients; the norm has no use for that of its input.
TEST(LayerGradientsTest, WithinTheFirstTrainedLayerGradientsEndAtItsFirstWeights) {
  const Workload net = Frozen(Llama(), {0, 1});
  const LayerKind& first = net.layer(2);
  EXPECT_FALSE(Of(first, "attention_norm").of_input);
  EXPECT_TRUE(Of(first, "attention_norm").of_weights);
  EXPECT_TRUE(Of(first, "qkv").of_input);
  EXPECT_TRUE(Of(first, "attention").of_input);
  EXPECT_TRUE(Of(first, "mlp_down").of_input);
}

// The table of the decoder of a Transformer comes behind its encoder, but nothing reaches it.
TEST(LayerGradientsTest, AFrozenTableHasNoBackwardWhereverItIs) {
  Workload net = BuildClassic("gnmt-8", AttentionBackend::kUnfused).value();
  const std::vector<int> decoder = FindPart(net, "decoder_attention");
  ASSERT_EQ(decoder.size(), 1u);
  std::vector<int> frozen = decoder;
  frozen.push_back(0);  // one table for both
  const Workload partly = Frozen(net, frozen);
  const LayerKind& kind = partly.layer(decoder[0]);
  const std::vector<OperatorGradients> gradients = GradientsOf(kind);
  for (size_t v = 0; v < gradients.size(); ++v) {
    const bool is_table = kind.operators[v].kind == OperatorKind::kEmbedding;
    if (is_table) {
      EXPECT_FALSE(gradients[v].Any());
    }
    if (kind.operators[v].kind == OperatorKind::kAttention) {
      EXPECT_TRUE(gradients[v].of_input);
    }
  }
}

TEST(LayerGradientsTest, FreezingTwiceFreezesBoth) {
  const Workload once = Frozen(LinearChain(5, 8), {0, 1, 3});
  const Workload twice = Frozen(Frozen(LinearChain(5, 8), {0, 3}), {1});
  for (int layer = 0; layer < 5; ++layer) {
    EXPECT_EQ(once.layer(layer).is_frozen, twice.layer(layer).is_frozen) << layer;
    EXPECT_EQ(once.layer(layer).returns_gradient, twice.layer(layer).returns_gradient) << layer;
  }
}

TEST(LayerGradientsTest, NothingFrozenChangesNothing) {
  EXPECT_TRUE(Frozen(Llama(), {}) == Llama());
  for (const LayerKind& kind : Llama().kinds) {
    for (const OperatorGradients& gradients : GradientsOf(kind)) {
      EXPECT_TRUE(gradients.of_input && gradients.of_weights);
    }
  }
}

TEST(LayerGradientsTest, RefusesWhatCannotBeTrained) {
  EXPECT_EQ(ErrorOfFreezing(LinearChain(2, 8), {0, 1}),
            "test: got all 2 layers of chain, want one or more that are trained");
  EXPECT_EQ(ErrorOfFreezing(Gpt(), {0}),
            "test: got only one of layers 0 (embedding) and 5 (head) of gpt, want both or none, or "
            "a layer state with 0 detached: their weights are one tensor");
  EXPECT_EQ(ErrorOfFreezing(Gpt(), {0, 5}), "");
  EXPECT_EQ(ErrorOfFreezing(Llama(), {0}), "");
  Workload profile = LinearChain(2, 8);
  profile.kinds[0].operators[0].kind = OperatorKind::kProfiled;
  EXPECT_EQ(ErrorOfFreezing(profile, {0}),
            "test: got frozen layers of the profile chain, want none: it does not divide the time "
            "of backwards");
}

TEST(LayerGradientsTest, WithAFrozenBackboneTheRestIsTrained) {
  const Workload net = BuildClassic("yolov3", AttentionBackend::kFlash).value();
  std::vector<int> backbone;
  for (int layer = 0; layer < 29; ++layer) backbone.push_back(layer);
  EXPECT_EQ(Frozen(net, backbone).TrainedParameters(), 61'949'149 - 40'584'928);
}

}  // namespace
}  // namespace stagecraft
