#include "sim/workload/layer_state_proto.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// Embedding, four blocks, of which each may have experts, and a head.
Workload Net(int experts = 0) {
  DecoderConfig config = SizedDecoder(
      "llama", {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  config.moe.experts = experts;
  config.moe.experts_per_token = experts > 0 ? 2 : 0;
  return BuildDecoder(config, AttentionBackend::kFlash, "net");
}

// The same without experts, and with a head that is the table of the embedding.
Workload Gpt() {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 4, .hidden = 64, .heads = 4, .vocab = 100, .max_sequence = 128});
  return BuildDecoder(config, AttentionBackend::kFlash, "gpt");
}

std::vector<LayerState> Read(const std::string& yaml, const Workload& workload = Net()) {
  LayerStatesProto proto;
  ParseProtoText(yaml, "state.yaml", ".yaml", &proto);
  return LayerStatesFromProto(proto, workload, "state.yaml");
}

std::string ErrorOfText(const std::string& yaml, const Workload& workload = Net()) {
  return ErrorOf([&] { Read(yaml, workload); });
}

TEST(LayerStateProtoTest, EachEntryIsOnTopOfThoseBeforeIt) {
  const std::vector<LayerState> states = Read(R"(
depth: 6
states:
  - {layers: 0-2, trained: false}
  - {layers: embedding, cached: true}
  - {layers: blocks, weight_density: 0.25, storage: csr}
  - {layers: "2,4", token_share: 0.125, weight_density: 0.5, attention_density: 0.75}
  - {layers: "4", adapter_rank: 8}
)");
  ASSERT_EQ(states.size(), 6u);
  EXPECT_FALSE(states[0].is_trained);
  EXPECT_TRUE(states[0].is_cached);
  EXPECT_EQ(states[0].weight_density, 1);
  LayerState second;
  second.is_trained = false;
  second.token_share = 0.125;
  second.weight_density = 0.5;
  second.storage = WeightStorage::kCsr;
  second.attention_density = 0.75;
  EXPECT_EQ(states[2], second);
  EXPECT_EQ(states[4].adapter_rank, 8);
  EXPECT_TRUE(states[4].is_trained);
  EXPECT_EQ(states[5], LayerState());
}

TEST(LayerStateProtoTest, DetachedLayersAreNotTrainedAndExitsHaveHeads) {
  const std::vector<LayerState> states = Read(R"(
states:
  - {layers: embedding, detached: true}
  - {layers: 1-3, exit_head: tied}
  - {layers: "2", exit_head: own}
  - {layers: "3", exit_head: none}
)");
  EXPECT_TRUE(states[0].is_detached);
  EXPECT_FALSE(states[0].is_trained);
  EXPECT_EQ(states[1].exit_head, ExitHead::kTied);
  EXPECT_EQ(states[2].exit_head, ExitHead::kOwn);
  EXPECT_EQ(states[3].exit_head, ExitHead::kNone);
  const LayerState again =
      Read("states: [{layers: '0', detached: true}, {layers: '0', trained: true}]")[0];
  EXPECT_EQ(again, LayerState());
}

TEST(LayerStateProtoTest, WithoutLayersAnEntryIsForAll) {
  for (const LayerState& state : Read("states: [{attention_density: 0.5}]")) {
    EXPECT_EQ(state.attention_density, 0.5);
  }
  EXPECT_EQ(Read("{}"), std::vector<LayerState>(6));
}

TEST(LayerStateProtoTest, TheLastLayersAloneMayBeTrained) {
  const std::vector<LayerState> states = Read("{trained_last: 2}");
  for (int layer = 0; layer < 6; ++layer) EXPECT_EQ(states[layer].is_trained, layer >= 4) << layer;
  EXPECT_TRUE(Read("{trained_last: 6}")[0].is_trained);
}

// The embedding of GPT is its head, too.
TEST(LayerStateProtoTest, ATableOfTheLastLayersIsDetachedInTheFirst) {
  const std::string file = "{trained_last: 2, states: [";
  EXPECT_FALSE(Read(file + "]}")[0].is_detached);
  EXPECT_TRUE(Read(file + "]}", Gpt())[0].is_detached);
  EXPECT_FALSE(Read(file + "{layers: head, trained: false}]}", Gpt())[0].is_detached);
  EXPECT_FALSE(Read(file + "{layers: '1', trained: true}]}", Gpt())[0].is_detached);
  EXPECT_FALSE(Read(file + "{layers: embedding, detached: true}]}", Gpt())[4].is_detached);
}

TEST(LayerStateProtoTest, ExpertsGetRows) {
  const std::vector<LayerState> states =
      Read("states: [{expert_rows: [1, 2, 3, 4, 5, 6, 7, 0]}]", Net(8));
  EXPECT_EQ(states[1].expert_rows, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 0}));
}

TEST(LayerStateProtoTest, ErrorsNameTheKeyTheValueAndWhatIsWanted) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"depth: 26", "state.yaml: depth: got 26, want 6, the layers of net"},
      {"depth: -1", "state.yaml: depth: got -1, want 0 to 100000"},
      {"trained_last: 7", "state.yaml: trained_last: got 7, want at most 6, the layers of net"},
      {"states: [{}, {token_share: 1.5}]",
       "state.yaml: states[1].token_share: got 1.5, want 0 to 1"},
      {"states: [{weight_density: -0.1}]",
       "state.yaml: states[0].weight_density: got -0.1, want 0 to 1"},
      {"states: [{attention_density: 2}]",
       "state.yaml: states[0].attention_density: got 2, want 0 to 1"},
      {"states: [{layers: 3-9, trained: false}]",
       "state.yaml: states[0].layers: got layers \"3-9\", want ascending ones from 0 to 5, of net"},
      {"states: [{layers: neck}]",
       "state.yaml: states[0].layers: got \"neck\", want layers such as 0-11, or parts of net: "
       "embedding, blocks, head, block"},
      {"states: [{layers: embedding, attention_density: 0.5}]",
       "state.yaml: states[0].attention_density: got it for layers of net without attention, want "
       "layers that have some"},
      {"states: [{layers: head, weight_density: 0.5}]",
       "state.yaml: states[0].weight_density: got it for layers of net without matrices of blocks, "
       "want layers that have some"},
      {"states: [{detached: true, trained: true}]",
       "state.yaml: states[0].detached: got it for trained layers, want it without trained: true"},
      {"states: [{adapter_rank: 65537}]",
       "state.yaml: states[0].adapter_rank: got 65537, want 0 to 65536"},
      {"states: [{expert_rows: [1, 2]}]",
       "state.yaml: states[0].expert_rows: got it for layers of net without experts, want layers "
       "that have some"},
      {"states: [{expert_rows: [0, 0]}]",
       "state.yaml: states[0].expert_rows: got no rows for any expert, want some"},
      {"states: [{expert_rows: [-1]}]",
       "state.yaml: states[0].expert_rows: got -1, want 0 to 1e+15"},
  };
  for (const auto& [yaml, error] : cases) EXPECT_EQ(ErrorOfText(yaml), error);
  EXPECT_EQ(
      ErrorOfText("states: [{expert_rows: [1, 2]}]", Net(8)),
      "state.yaml: states[0].expert_rows: got 2 numbers, want 8, one for each expert of layer "
      "1 (moe_block)");
}

}  // namespace
}  // namespace stagecraft
