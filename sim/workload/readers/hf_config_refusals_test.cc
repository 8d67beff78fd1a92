// What is refused in each family's config.json, and in which words.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/workload/readers/hf_config_test_files.h"

namespace stagecraft {
namespace {

using namespace test_files;

struct Missing {
  Json json;
  const char* key;
  const char* spellings;
};

TEST(HfConfigRefusalsTest, MissingKeysAreListedWithTheirSpellings) {
  const std::vector<Missing> cases = {
      {Mixtral(), "num_local_experts", "num_local_experts | num_experts | n_routed_experts"},
      {Mixtral(), "num_experts_per_tok", "num_experts_per_tok | moe_router_topk"},
      {Qwen(), "moe_intermediate_size", "moe_intermediate_size | moe_ffn_hidden_size"},
      {Qwen(), "shared_expert_intermediate_size", "shared_expert_intermediate_size"},
      {DeepSeek(), "q_lora_rank", "q_lora_rank (a number or null)"},
      {DeepSeek(), "kv_lora_rank", "kv_lora_rank"},
      {DeepSeek(), "qk_nope_head_dim", "qk_nope_head_dim"},
      {DeepSeek(), "qk_rope_head_dim", "qk_rope_head_dim"},
      {DeepSeek(), "v_head_dim", "v_head_dim"},
      {DeepSeek(), "first_k_dense_replace", "first_k_dense_replace"},
      {Bert(), "type_vocab_size", "type_vocab_size"},
      {Switch(), "num_sparse_encoder_layers", "num_sparse_encoder_layers"},
      {Switch(), "num_experts", "num_experts"},
      {Vision(), "image_size", "image_size"},
      {Vision(), "patch_size", "patch_size"},
  };
  for (const Missing& missing : cases) {
    Json json = missing.json;
    json.erase(missing.key);
    EXPECT_EQ(ErrorOf(json), std::string("config.json: missing keys: ") + missing.spellings);
  }
  Json json = DeepSeek();
  for (const char* key : {"num_experts_per_tok", "v_head_dim", "vocab_size"}) json.erase(key);
  EXPECT_EQ(ErrorOf(json),
            "config.json: missing keys: vocab_size; num_experts_per_tok | moe_router_topk; "
            "v_head_dim");
}

struct Bad {
  Json json;
  Json change;
  const char* start;
};

TEST(HfConfigRefusalsTest, RefusesBadValuesAndNamesTheirKey) {
  const std::vector<Bad> cases = {
      {Mixtral(), {{"num_experts_per_tok", 9}}, "num_experts_per_tok: got 9, want 1 to the 8"},
      {Mixtral(), {{"num_experts_per_tok", 0}}, "num_experts_per_tok: got 0"},
      {Mixtral(), {{"num_local_experts", 8.5}}, "num_local_experts: got 8.5"},
      {Mixtral(), {{"num_experts", 4}}, "num_experts: got 4, want the 8"},
      {Mixtral(), {{"num_key_value_heads", 3}}, "num_key_value_heads: got 3"},
      {Qwen(), {{"decoder_sparse_step", 0}}, "decoder_sparse_step: got 0"},
      {Qwen(), {{"mlp_only_layers", 3}}, "mlp_only_layers: got 3, want a list"},
      {Qwen(), {{"mlp_only_layers", {-1}}}, "mlp_only_layers: got -1"},
      {Qwen(), {{"mlp_only_layers", {"a"}}}, "mlp_only_layers: got \"a\""},
      {Qwen(), {{"shared_expert_intermediate_size", -1}}, "shared_expert_intermediate_size: got"},
      {DeepSeek(), {{"n_group", 3}}, "n_group: got 3, want a divisor of the 8 experts"},
      {DeepSeek(), {{"topk_group", 5}}, "topk_group: got 5, want at most the 4 groups"},
      {DeepSeek(), {{"q_lora_rank", 0}}, "q_lora_rank: got 0"},
      {DeepSeek(), {{"kv_lora_rank", "512"}}, "kv_lora_rank: got \"512\""},
      {DeepSeek(), {{"num_key_value_heads", 2}}, "num_key_value_heads: got 2, want the 4 heads"},
      {DeepSeek(), {{"num_nextn_predict_layers", 99}}, "num_nextn_predict_layers: got 99"},
      {DeepSeek(), {{"first_k_dense_replace", -1}}, "first_k_dense_replace: got -1"},
      {DeepSeek(), {{"first_k_dense_replace", 99}}, "first_k_dense_replace: got 99, want at most"},
      {DeepSeek(), {{"moe_layer_freq", 0}}, "moe_layer_freq: got 0"},
      {Decoder("qwen3"), {{"num_experts", 8}}, "num_experts: got 8, want a plain decoder"},
      {Decoder("gpt_bigcode"), Json::object(), "model_type: got \"gpt_bigcode\""},
      {Decoder("opt"), {{"word_embed_proj_dim", 0}}, "word_embed_proj_dim: got 0"},
      {Decoder("opt"), {{"do_layer_norm_before", 1}}, "do_layer_norm_before: got 1"},
      {Decoder("falcon"), {{"multi_query", "yes"}}, "multi_query: got \"yes\""},
      {Decoder("falcon"),
       {{"num_kv_heads", 3}, {"new_decoder_architecture", true}},
       "num_kv_heads: got 3, want a divisor"},
      {Decoder("mpt"), {{"attn_config", true}}, "attn_config: got true, want an object"},
      {Decoder("phi"), {{"partial_rotary_factor", 1.5}}, "partial_rotary_factor: got 1.5"},
      {Decoder("phi"), {{"qk_layernorm", 0}}, "qk_layernorm: got 0"},
      {Decoder("gemma"), {{"hidden_activation", "tanh"}}, "hidden_activation: got \"tanh\""},
      {Bert(), {{"type_vocab_size", -1}}, "type_vocab_size: got -1"},
      {Bert(), {{"type_vocab_size", 101}}, "type_vocab_size: got 101, want 0 to the 100 tokens"},
      {Bert(), {{"is_decoder", true}}, "is_decoder: got true"},
      {Bert(), {{"hidden_dropout_prob", 2}}, "hidden_dropout_prob: got 2"},
      {Bert(), {{"hidden_size", 63}}, "hidden_size: got 63, want a multiple of the 4 heads"},
      {Bert(),
       {{"model_type", "roberta"}, {"max_position_embeddings", 2}},
       "max_position_embeddings: got 2, want more than 2"},
      {T5(), {{"feed_forward_proj", "gated-"}}, "feed_forward_proj: got \"gated-\""},
      {T5(), {{"feed_forward_proj", 2}}, "feed_forward_proj: got 2"},
      {T5(), {{"num_experts", 8}}, "num_experts: got 8, want a T5 without it"},
      {T5(), {{"decoder_seq", 8}}, "decoder_seq: got 8, want 0 if"},
      {T5(), {{"dropout_rate", -1}}, "dropout_rate: got -1"},
      {Switch(), {{"num_sparse_encoder_layers", 3}}, "num_sparse_encoder_layers: got 3"},
      {Switch(), {{"num_sparse_decoder_layers", 5}}, "num_sparse_decoder_layers: got 5"},
      {Vision(), {{"patch_size", 7}}, "image_size: got 32, want a multiple of the patch, 7"},
      {Vision(), {{"patch_size", 64}}, "patch_size: got 64"},
      {Vision(), {{"num_channels", 0}}, "num_channels: got 0"},
      {Vision(), {{"id2label", Json::array()}}, "id2label: got []"},
  };
  for (const Bad& bad : cases) {
    const std::string error = ErrorOf(With(bad.json, bad.change));
    EXPECT_EQ(error.find(std::string("config.json: ") + bad.start), 0u) << error;
  }
}

}  // namespace
}  // namespace stagecraft
