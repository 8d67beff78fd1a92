// What the config.json of recent families says about windows, chunks, recurrences and experts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/workload/readers/hf_config.h"
#include "sim/workload/readers/hf_config_test_files.h"

namespace stagecraft {
namespace {

using namespace test_files;

constexpr Mixer kAll = Mixer::kAttention;
constexpr Mixer kWindow = Mixer::kWindow;

DecoderConfig Read(const Json& json) {
  return std::get<DecoderConfig>(ParseHuggingFaceNetwork(json.dump(), "config.json"));
}

Json Experts(const char* model_type, const Json& more) {
  return With(With(Decoder(model_type), {{"num_experts_per_tok", 2}}), more);
}

Json Llama4() {
  return Experts("llama4_text", {{"num_local_experts", 4},
                                 {"intermediate_size_mlp", 256},
                                 {"interleave_moe_layer_step", 2},
                                 {"attention_chunk_size", 16}});
}

Json Qwen3Next() {
  return Experts("qwen3_next", {{"num_experts", 8},
                                {"moe_intermediate_size", 32},
                                {"shared_expert_intermediate_size", 16},
                                {"linear_num_key_heads", 2},
                                {"linear_num_value_heads", 4},
                                {"linear_key_head_dim", 8},
                                {"linear_value_head_dim", 8}});
}

Json Mamba2() {
  return {{"model_type", "mamba2"}, {"vocab_size", 100}, {"hidden_size", 64},
          {"num_hidden_layers", 3}, {"num_heads", 16},   {"head_dim", 8},
          {"state_size", 12},       {"expand", 2},       {"n_groups", 1}};
}

Json NemotronH() {
  return With(Decoder("nemotron_h"), {{"hybrid_override_pattern", "M-*M"},
                                      {"mamba_num_heads", 8},
                                      {"mamba_head_dim", 16},
                                      {"ssm_state_size", 12},
                                      {"n_groups", 2},
                                      {"mlp_hidden_act", "relu2"}});
}

TEST(HfConfigRecentTest, Gemma2AlternatesBeginningWithAWindow) {
  const DecoderConfig config = Read(With(Decoder("gemma2"), {{"sliding_window", 8}}));
  EXPECT_EQ(config.mixers, (std::vector<Mixer>{kWindow, kAll, kWindow, kAll}));
  EXPECT_EQ(config.window, (WindowConfig{.keys = 8}));
  EXPECT_EQ(config.norm_place, NormPlace::kBothEnds);
  EXPECT_TRUE(config.capped_logits && config.tied_embeddings);
  const Json without =
      With(Decoder("gemma2"), {{"sliding_window", 8}, {"final_logit_softcapping", nullptr}});
  EXPECT_FALSE(Read(without).capped_logits);
}

TEST(HfConfigRecentTest, Gemma3HasOneBlockWithAllKeysInSixUnlessItsFileSaysOtherwise) {
  Json json = With(Decoder("gemma3_text"), {{"sliding_window", 8}, {"num_hidden_layers", 7}});
  json.erase("vocab_size");
  json.erase("max_position_embeddings");
  const DecoderConfig config = Read(json);
  EXPECT_EQ(config.mixers,
            (std::vector<Mixer>{kWindow, kWindow, kWindow, kWindow, kWindow, kAll, kWindow}));
  EXPECT_EQ(config.vocab, 262'208);
  EXPECT_EQ(config.max_sequence, 131'072);
  EXPECT_TRUE(config.qk_norm);
  const Json twos =
      With(Decoder("gemma3_text"), {{"sliding_window", 8}, {"sliding_window_pattern", 2}});
  EXPECT_EQ(Read(twos).mixers, (std::vector<Mixer>{kWindow, kAll, kWindow, kAll}));
  // A file of a network with images says which decoder is inside.
  const Json nested = {{"model_type", "gemma3"}, {"text_config", twos}};
  EXPECT_EQ(Read(nested), Read(twos));
}

TEST(HfConfigRecentTest, LayerTypesSayMoreThanTheFamily) {
  const Json types = {"full_attention", "sliding_attention", "full_attention", "full_attention"};
  const Json json = Experts("gpt_oss", {{"num_local_experts", 4}, {"sliding_window", 8}});
  EXPECT_EQ(Read(json).mixers, (std::vector<Mixer>{kWindow, kAll, kWindow, kAll}));
  const DecoderConfig config = Read(With(json, {{"layer_types", types}}));
  EXPECT_EQ(config.mixers, (std::vector<Mixer>{kAll, kWindow, kAll, kAll}));
  EXPECT_TRUE(config.attention_sinks && config.moe.biases && config.projection_bias);
  EXPECT_EQ(config.moe.ffn, 128);
}

TEST(HfConfigRecentTest, Llama4HasChunksAndEverySecondLayerOfExperts) {
  const DecoderConfig config = Read(Llama4());
  EXPECT_EQ(config.mixers, (std::vector<Mixer>{kWindow, kWindow, kWindow, kAll}));
  EXPECT_EQ(config.window,
            (WindowConfig{.keys = 16, .is_chunked = true, .rotates_windows_only = true}));
  EXPECT_EQ(config.moe.dense_layers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(config.moe.ffn, 128);
  EXPECT_EQ(config.moe.shared_ffn, 128);
  EXPECT_EQ(config.ffn, 256);
  const DecoderConfig listed =
      Read(With(Llama4(), {{"no_rope_layers", {0, 1, 0, 1}}, {"use_qk_norm", false}}));
  EXPECT_EQ(listed.mixers, (std::vector<Mixer>{kAll, kWindow, kAll, kWindow}));
  EXPECT_FALSE(listed.qk_norm);
}

TEST(HfConfigRecentTest, MistralHasAWindowAndQwenIfItUsesIt) {
  EXPECT_TRUE(Read(Decoder("mistral")).mixers.empty());
  EXPECT_EQ(Read(With(Decoder("mistral"), {{"sliding_window", 8}})).mixers,
            (std::vector<Mixer>{kWindow, kWindow, kWindow, kWindow}));
  const Json qwen = With(Decoder("qwen2"), {{"sliding_window", 8}, {"max_window_layers", 3}});
  EXPECT_TRUE(Read(With(qwen, {{"use_sliding_window", false}})).mixers.empty());
  EXPECT_EQ(Read(With(qwen, {{"use_sliding_window", true}})).mixers,
            (std::vector<Mixer>{kAll, kAll, kAll, kWindow}));
}

TEST(HfConfigRecentTest, GlmCountsDenseLayersAsDeepSeekDoes) {
  const DecoderConfig config = Read(Experts("glm4_moe", {{"n_routed_experts", 8},
                                                         {"n_shared_experts", 1},
                                                         {"moe_intermediate_size", 32},
                                                         {"first_k_dense_replace", 1},
                                                         {"attention_bias", true},
                                                         {"use_qk_norm", true},
                                                         {"partial_rotary_factor", 0.5}}));
  EXPECT_EQ(config.moe.dense_layers, (std::vector<int64_t>{0}));
  EXPECT_EQ(config.moe.shared_ffn, 32);
  EXPECT_TRUE(config.moe.routing_bias && config.qkv_bias && config.qk_norm);
  EXPECT_FALSE(config.projection_bias);
  EXPECT_EQ(config.mla.kv_rank, 0);
}

TEST(HfConfigRecentTest, KimiIsADeepSeekAndItsSuccessorHasAnIndexer) {
  EXPECT_EQ(Read(With(DeepSeek(), {{"model_type", "kimi_k2"}})), Read(DeepSeek()));
  const DecoderConfig sparse = Read(With(DeepSeek(), {{"model_type", "deepseek_v32"},
                                                      {"index_n_heads", 4},
                                                      {"index_head_dim", 8},
                                                      {"index_topk", 16}}));
  EXPECT_EQ(sparse.indexer, (IndexerConfig{.heads = 4, .head_size = 8, .keys = 16}));
}

TEST(HfConfigRecentTest, Qwen3NextHasThreeRecurrencesForOneAttention) {
  const DecoderConfig config = Read(Qwen3Next());
  constexpr Mixer kDelta = Mixer::kDelta;
  EXPECT_EQ(config.mixers, (std::vector<Mixer>{kDelta, kDelta, kDelta, kAll}));
  EXPECT_EQ(config.delta,
            (DeltaConfig{.key_heads = 2, .value_heads = 4, .key_size = 8, .value_size = 8}));
  EXPECT_TRUE(config.gated_attention && config.moe.shared_gate && config.qk_norm);
  EXPECT_EQ(config.moe.shared_ffn, 16);
}

TEST(HfConfigRecentTest, Mamba2HasNoMlpAndNeedsNoSequence) {
  const DecoderConfig config = Read(Mamba2());
  EXPECT_EQ(config.mixers, (std::vector<Mixer>(3, Mixer::kSsm)));
  EXPECT_EQ(config.lacks_mlp, (std::vector<bool>(3, true)));
  EXPECT_EQ(config.ssm, (SsmConfig{.heads = 16, .head_size = 8, .state = 12}));
  EXPECT_EQ(config.max_sequence, 2048);
  EXPECT_FALSE(config.tied_embeddings);
}

TEST(HfConfigRecentTest, LettersNameThePartsOfAHybrid) {
  const DecoderConfig config = Read(NemotronH());
  EXPECT_EQ(config.mixers,
            (std::vector<Mixer>{Mixer::kSsm, Mixer::kNone, Mixer::kAttention, Mixer::kSsm}));
  EXPECT_EQ(config.lacks_mlp, (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(config.ssm, (SsmConfig{.heads = 8, .head_size = 16, .state = 12, .groups = 2}));
  EXPECT_EQ(config.activation, Activation::kSquaredRelu);
  EXPECT_FALSE(config.gated_mlp);
}

TEST(HfConfigRecentTest, DbrxKeepsSizesInObjects) {
  const Json json = {
      {"model_type", "dbrx"},
      {"vocab_size", 100},
      {"d_model", 64},
      {"n_layers", 2},
      {"n_heads", 4},
      {"max_seq_len", 32},
      {"attn_config", {{"kv_n_heads", 2}}},
      {"ffn_config", {{"ffn_hidden_size", 48}, {"moe_num_experts", 8}, {"moe_top_k", 3}}}};
  const DecoderConfig config = Read(json);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.moe, (MoeConfig{.experts = 8, .experts_per_token = 3, .ffn = 48}));
  EXPECT_EQ(config.norm, NormKind::kLayer);
  EXPECT_FALSE(config.norm_bias);
}

TEST(HfConfigRecentTest, ABlockOfEveryOtherFamilyIsAlike) {
  for (const char* type : {"llama", "olmo2", "qwen3", "nemotron"}) {
    EXPECT_TRUE(Read(Decoder(type)).mixers.empty()) << type;
  }
  EXPECT_EQ(Read(Decoder("olmo2")).norm_place, NormPlace::kBranchEnd);
}

struct Bad {
  Json json;
  Json change;
  const char* start;
};

TEST(HfConfigRecentTest, RefusesBadValuesAndNamesTheirKey) {
  const std::vector<Bad> cases = {
      {Decoder("gemma2"), Json::object(), "missing keys: sliding_window"},
      {Decoder("gemma2"), {{"sliding_window", 0}}, "sliding_window: got 0"},
      {Decoder("gemma2"),
       {{"sliding_window", 8}, {"final_logit_softcapping", "on"}},
       "final_logit_softcapping: got \"on\", want a number or null"},
      {Decoder("gemma2"), {{"layer_types", {"full_attention"}}}, "layer_types: got"},
      {Decoder("gemma2"),
       {{"layer_types", {"full_attention", "full_attention", "full_attention", "none"}}},
       "layer_types: got \"none\", want a list of 4 words"},
      {Decoder("mistral"), {{"sliding_window", "wide"}}, "sliding_window: got \"wide\""},
      {Decoder("qwen2"),
       {{"sliding_window", 8}, {"use_sliding_window", true}},
       "missing keys: max_window_layers"},
      {Llama4(), {{"no_rope_layers", {1}}}, "no_rope_layers: got [1], want a number for each"},
      {Llama4(), {{"attention_chunk_size", nullptr}}, "missing keys: attention_chunk_size"},
      {Llama4(), {{"intermediate_size_mlp", nullptr}}, "missing keys: intermediate_size_mlp"},
      {Qwen3Next(), {{"linear_num_key_heads", nullptr}}, "missing keys: linear_num_key_heads"},
      {Qwen3Next(), {{"linear_num_key_heads", 3}}, "linear_num_key_heads: got 3, want a divisor"},
      {Mamba2(), {{"num_heads", 15}}, "num_heads: got 15 of head_dim 8, want heads that make 2 x"},
      {Mamba2(), {{"n_groups", 5}}, "n_groups: got 5, want a divisor of the 16 heads"},
      {NemotronH(), {{"hybrid_override_pattern", "M-*"}}, "hybrid_override_pattern: got \"M-*\""},
      {NemotronH(), {{"hybrid_override_pattern", "M-*X"}}, "hybrid_override_pattern: got \"M-*X\""},
      {NemotronH(),
       {{"hybrid_override_pattern", nullptr}},
       "missing keys: hybrid_override_pattern"},
      {DeepSeek(), {{"index_n_heads", 4}}, "missing keys: index_head_dim; index_topk"},
  };
  for (const Bad& bad : cases) {
    const std::string error = ErrorOf(With(bad.json, bad.change));
    EXPECT_EQ(error.find(std::string("config.json: ") + bad.start), 0u) << error;
  }
}

// A list that has an entry for each layer is not blamed if the number of layers is missing, nor are
// heads if the width is.
TEST(HfConfigRecentTest, MissingSizesAreNamedRatherThanWhatDependsOnThem) {
  const Json no_layers = {{"num_hidden_layers", nullptr}};
  const std::vector<Bad> cases = {
      {With(Decoder("gemma2"), {{"layer_types", {"full_attention", "full_attention"}}}), no_layers,
       "missing keys: num_hidden_layers"},
      {With(Llama4(), {{"no_rope_layers", {0, 0}}}), no_layers, "missing keys: num_hidden_layers"},
      {NemotronH(), no_layers, "missing keys: num_hidden_layers"},
      {Mamba2(), {{"hidden_size", nullptr}}, "missing keys: hidden_size"},
      {Mamba2(), {{"num_heads", nullptr}}, "missing keys: "},
  };
  for (const Bad& bad : cases) {
    const std::string error = ErrorOf(With(bad.json, bad.change));
    EXPECT_EQ(error.find(std::string("config.json: ") + bad.start), 0u) << error;
  }
}

}  // namespace
}  // namespace stagecraft
