#include "sim/workload/tied_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

using States = std::vector<LayerState>;

constexpr int64_t kTable = 100 * 64;

// Embedding, four blocks and a head, of which GPT's is the table of the embedding.
Workload Net(const std::string& family) {
  return BuildDecoder(
      SizedDecoder(family,
                   {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128}),
      AttentionBackend::kFlash, family);
}

// The first layers are frozen, and the first of all is detached.
States Prefix(int frozen) {
  States states(6);
  for (int layer = 0; layer < frozen; ++layer) states[layer].is_trained = false;
  states[0].is_detached = true;
  return states;
}

Workload With(Workload workload, const States& states) {
  ApplyLayerStates("test", states, workload);
  return workload;
}

std::string ErrorOfStates(const Workload& workload, const States& states) {
  return ErrorOf([&] { With(workload, states); });
}

TEST(TiedLayersTest, AnEmbeddingAndItsHeadShareATensor) {
  EXPECT_EQ(HomeOfTied(Net("gpt")), 0);
  EXPECT_EQ(TiedLayers(Net("gpt")), (std::vector<int>{0, 5}));
  EXPECT_EQ(HomeOfTied(Net("llama")), -1);
  EXPECT_TRUE(TiedLayers(Net("llama")).empty());
  EXPECT_EQ(DetachedLayers(Net("gpt")), 0);
}

// The table is trained by the head; the table of positions beside it is not.
TEST(TiedLayersTest, ADetachedEmbeddingIsTrainedByTheHead) {
  const Workload plain = Net("gpt");
  const Workload net = With(plain, Prefix(3));
  EXPECT_FALSE(net.layer(0).has_backward());
  EXPECT_FALSE(GradientsOf(net.layer(0))[0].Any());
  EXPECT_FALSE(net.layer(2).has_backward());
  EXPECT_FALSE(net.layer(3).returns_gradient);
  EXPECT_EQ(net.layer(5), plain.layer(5));
  EXPECT_EQ(net.Parameters(), plain.Parameters());
  EXPECT_EQ(net.TrainedParameters(),
            2 * plain.layer(1).Parameters() + plain.layer(5).Parameters() + kTable);
  EXPECT_EQ(DetachedLayers(net), 1);
  EXPECT_FALSE(TrainsTied(net, 0));
  EXPECT_TRUE(TrainsTied(net, 5));
}

// Its backward costs what that of a frozen embedding of another network costs: nothing.
TEST(TiedLayersTest, NoGradientReachesADetachedEmbedding) {
  States frozen = Prefix(3);
  frozen[0].is_detached = false;
  const auto saved = [](const Workload& plain, const States& states) {
    const Workload net = With(plain, states);
    return plain.TrainingFlopsPerToken(128).count() - net.TrainingFlopsPerToken(128).count();
  };
  const Workload gpt = Net("gpt");
  const double block = gpt.ForwardFlops(1, 128).count();
  // Two blocks have no backward, and the first trained one makes no gradient of its first matrix.
  EXPECT_GE(saved(gpt, Prefix(3)), 4 * block);
  EXPECT_LT(saved(gpt, Prefix(3)), 5 * block);
  EXPECT_NE(ErrorOfStates(gpt, frozen), "");
}

TEST(TiedLayersTest, RefusesDetachedLayersThatCannotBe) {
  const Workload gpt = Net("gpt"), llama = Net("llama");
  EXPECT_EQ(ErrorOfStates(llama, Prefix(3)),
            "test: got a detached layer 0 (embedding), which shares no weights with others, want "
            "it frozen");
  States states = Prefix(3);
  states[5].is_trained = false;
  EXPECT_EQ(ErrorOfStates(gpt, states),
            "test: got a detached layer 0 (embedding), but no trained one that shares its "
            "weights, want it frozen");
  states = States(6);
  states[5].is_detached = true;
  EXPECT_EQ(ErrorOfStates(gpt, states),
            "test: got a detached layer 5 (head) behind trained ones, want all layers before it "
            "frozen");
  states = Prefix(3);
  states[0].is_cached = true;
  EXPECT_EQ(ErrorOfStates(gpt, states),
            "test: got a cached output of layer 0 (embedding), whose weights are trained where "
            "another layer uses them, want it computed, since it changes");
  states = States(6);
  states[5].is_trained = false;
  EXPECT_EQ(ErrorOfStates(gpt, states),
            "test: got only one of layers 0 (embedding) and 5 (head) of gpt, want both or none: "
            "their weights are one tensor");
}

}  // namespace
}  // namespace stagecraft
