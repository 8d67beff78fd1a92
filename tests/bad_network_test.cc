// Tests of impossible networks: config.json files that contradict themselves, and networks that
// cannot be divided as a plan requires.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Case;
using Json = nlohmann::json;

// A correct config.json of each family.
const std::map<std::string, const char*>& Configs() {
  static const std::map<std::string, const char*> configs = {
      {"llama", R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 6, "num_attention_heads": 8,
          "num_key_value_heads": 4, "max_position_embeddings": 64})"},
      {"gpt2", R"({"model_type": "gpt2", "vocab_size": 100, "n_embd": 64, "n_layer": 4,
          "n_head": 4, "n_positions": 64})"},
      {"mistral", R"({"model_type": "mistral", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 12,
          "num_key_value_heads": 6, "head_dim": 8, "max_position_embeddings": 64})"},
      {"mixtral", R"({"model_type": "mixtral", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 8,
          "max_position_embeddings": 64, "num_local_experts": 6, "num_experts_per_tok": 2})"},
      {"qwen2_moe", R"({"model_type": "qwen2_moe", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 8,
          "max_position_embeddings": 64, "num_experts": 6, "num_experts_per_tok": 2,
          "moe_intermediate_size": 32, "shared_expert_intermediate_size": 96})"},
      {"qwen3", R"({"model_type": "qwen3", "vocab_size": 100, "hidden_size": 66,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 8,
          "num_key_value_heads": 4, "head_dim": 16, "max_position_embeddings": 64})"},
      {"deepseek_v3", R"({"model_type": "deepseek_v3", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
          "max_position_embeddings": 64, "n_routed_experts": 8, "num_experts_per_tok": 2,
          "moe_intermediate_size": 32, "n_shared_experts": 2, "first_k_dense_replace": 1,
          "n_group": 4, "topk_group": 2, "q_lora_rank": 24, "kv_lora_rank": 16,
          "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16})"},
      {"gemma", R"({"model_type": "gemma", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
          "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 64})"},
      {"phi", R"({"model_type": "phi", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
          "partial_rotary_factor": 0.5, "max_position_embeddings": 64})"},
      {"opt", R"({"model_type": "opt", "vocab_size": 100, "hidden_size": 64, "ffn_dim": 128,
          "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 64,
          "word_embed_proj_dim": 64})"},
      {"bloom", R"({"model_type": "bloom", "vocab_size": 100, "hidden_size": 64, "n_layer": 4,
          "n_head": 4})"},
      {"mpt", R"({"model_type": "mpt", "vocab_size": 100, "d_model": 64, "n_layers": 4,
          "n_heads": 4, "max_seq_len": 64, "expansion_ratio": 4})"},
      {"bert", R"({"model_type": "bert", "vocab_size": 100, "hidden_size": 64,
          "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
          "max_position_embeddings": 64, "type_vocab_size": 2})"},
      {"t5", R"({"model_type": "t5", "vocab_size": 100, "d_model": 64, "d_ff": 128,
          "num_layers": 4, "num_heads": 4, "d_kv": 16})"},
      {"vit", R"({"model_type": "vit", "hidden_size": 64, "intermediate_size": 128,
          "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 32,
          "patch_size": 8})"},
      {"switch_transformers", R"({"model_type": "switch_transformers", "vocab_size": 100,
          "d_model": 64, "d_ff": 128, "num_layers": 4, "num_heads": 4, "d_kv": 16,
          "num_experts": 8, "num_sparse_encoder_layers": 2, "num_sparse_decoder_layers": 1})"},
  };
  return configs;
}

// A change that makes a correct file wrong; null removes a key.
struct BadKey {
  const char* family;
  const char* change;
  const char* wants;
};

const std::vector<BadKey> kBadKeys = {
    {"llama", R"({"hidden_size": null})", "missing keys: hidden_size | n_embd | d_model"},
    {"llama", R"({"hidden_size": null, "vocab_size": null})", "; vocab_size"},
    {"llama", R"({"model_type": null})", "missing keys: model_type (one of llama, gpt2"},
    {"llama", R"({"model_type": "mamba3"})", "model_type: got \"mamba3\", want one of llama"},
    {"llama", R"({"model_type": 7})", "model_type: got 7"},
    {"llama", R"({"model_type": null, "architectures": ["RwkvForCausalLM"]})",
     "architectures: got [\"RwkvForCausalLM\"]"},
    {"llama", R"({"model_type": null, "architectures": "LlamaForCausalLM"})",
     "architectures: got \"LlamaForCausalLM\""},
    {"llama", R"({"model_type": null, "architectures": []})", "architectures: got []"},
    {"llama", R"({"hidden_size": "64"})", "hidden_size: got \"64\", want a whole number"},
    {"llama", R"({"hidden_size": 64.5})", "hidden_size: got 64.5"},
    {"llama", R"({"hidden_size": [64]})", "hidden_size: got [64]"},
    {"llama", R"({"hidden_size": {"text": 64}})", "hidden_size: got {\"text\":64}"},
    {"llama", R"({"hidden_size": true})", "hidden_size: got true"},
    {"llama", R"({"hidden_size": 66})", "hidden_size: got 66, want a multiple of the 8 heads"},
    {"llama", R"({"n_embd": 128})", "n_embd: got 128, want the 64 that hidden_size says"},
    {"llama", R"({"num_key_value_heads": 3})", "num_key_value_heads: got 3, want a divisor"},
    {"llama", R"({"num_key_value_heads": 0})", "num_key_value_heads: got 0"},
    {"llama", R"({"num_hidden_layers": 0})", "num_hidden_layers: got 0"},
    {"llama", R"({"num_hidden_layers": 1000000})", "num_hidden_layers: got 1000000"},
    {"llama", R"({"vocab_size": 1000000000000000000})", "vocab_size: got 1000000000000000000"},
    {"llama", R"({"vocab_size": 1000000000000000000000000})", "vocab_size: got 1e+24"},
    {"llama", R"({"num_hidden_layers": 100000, "hidden_size": 1000000000})", "10^15"},
    {"llama", R"({"tie_word_embeddings": "yes"})", "tie_word_embeddings: got \"yes\""},
    {"llama", R"({"attention_bias": 1})", "attention_bias: got 1, want true or false"},
    {"llama", R"({"attention_dropout": -0.1})", "attention_dropout: got -0.1"},
    {"llama", R"({"hidden_act": "magic"})", "hidden_act: got \"magic\", want one of gelu"},
    {"llama", R"({"text_config": {"model_type": "llama"}})", "text_config: missing keys: "},
    {"llama", R"({"text_config": {"model_type": "whisper"}})",
     "text_config: model_type: got \"whisper\""},

    {"gpt2", R"({"n_head": null})", "missing keys: num_attention_heads | n_head"},
    {"gpt2", R"({"n_head": "four"})", "n_head: got \"four\""},
    {"gpt2", R"({"n_embd": -64})", "n_embd: got -64"},
    {"gpt2", R"({"n_embd": 62})", "n_embd: got 62, want a multiple of the 4 heads"},
    {"gpt2", R"({"n_ctx": 32})", "n_ctx: got 32, want the 64 that n_positions says"},
    {"gpt2", R"({"add_cross_attention": true})", "add_cross_attention: got true"},
    {"gpt2", R"({"attn_pdrop": 10})", "attn_pdrop: got 10"},

    {"mistral", R"({"intermediate_size": null})", "missing keys: intermediate_size"},
    {"mistral", R"({"head_dim": 8.0})", "head_dim: got 8.0"},
    {"mistral", R"({"head_dim": 0})", "head_dim: got 0"},
    {"mistral", R"({"num_key_value_heads": 24})", "num_key_value_heads: got 24, want a divisor"},

    {"mixtral", R"({"num_local_experts": null})", "missing keys: num_local_experts"},
    {"mixtral", R"({"num_local_experts": "6"})", "num_local_experts: got \"6\""},
    {"mixtral", R"({"num_local_experts": 0})", "num_local_experts: got 0"},
    {"mixtral", R"({"num_experts_per_tok": 7})", "num_experts_per_tok: got 7, want 1 to the 6"},
    {"mixtral", R"({"num_experts": 8})", "num_experts: got 8, want the 6 that num_local_experts"},

    {"qwen2_moe", R"({"moe_intermediate_size": null})", "missing keys: moe_intermediate_size"},
    {"qwen2_moe", R"({"moe_intermediate_size": 0})", "moe_intermediate_size: got 0"},
    {"qwen2_moe", R"({"mlp_only_layers": "0"})", "mlp_only_layers: got \"0\", want a list"},
    {"qwen2_moe", R"({"num_experts_per_tok": 60})", "num_experts_per_tok: got 60"},
    {"qwen2_moe", R"({"decoder_sparse_step": 0})", "decoder_sparse_step: got 0"},

    {"qwen3", R"({"max_position_embeddings": null})", "missing keys: max_position_embeddings"},
    {"qwen3", R"({"num_attention_heads": 8e0})", "num_attention_heads: got 8.0"},
    {"qwen3", R"({"max_position_embeddings": -1})", "max_position_embeddings: got -1"},
    {"qwen3", R"({"num_experts": 8})", "num_experts: got 8, want a plain decoder"},
    {"qwen3", R"({"head_dim": null})", "hidden_size: got 66, want a multiple of the 8 heads"},

    {"deepseek_v3", R"({"kv_lora_rank": null})", "missing keys: kv_lora_rank"},
    {"deepseek_v3", R"({"qk_rope_head_dim": "8"})", "qk_rope_head_dim: got \"8\""},
    {"deepseek_v3", R"({"v_head_dim": 0})", "v_head_dim: got 0"},
    {"deepseek_v3", R"({"n_group": 3})", "n_group: got 3, want a divisor of the 8 experts"},
    {"deepseek_v3", R"({"topk_group": 5})", "topk_group: got 5, want at most the 4 groups"},
    {"deepseek_v3", R"({"num_experts_per_tok": 9})", "num_experts_per_tok: got 9"},
    {"deepseek_v3", R"({"num_key_value_heads": 2})", "num_key_value_heads: got 2"},
    {"deepseek_v3", R"({"first_k_dense_replace": -1})", "first_k_dense_replace: got -1"},

    {"gemma", R"({"vocab_size": null})", "missing keys: vocab_size"},
    {"gemma", R"({"head_dim": "16"})", "head_dim: got \"16\""},
    {"gemma", R"({"vocab_size": 0})", "vocab_size: got 0"},
    {"gemma", R"({"hidden_activation": "tanh"})", "hidden_activation: got \"tanh\""},
    {"gemma", R"({"num_key_value_heads": 8})", "num_key_value_heads: got 8"},

    {"phi", R"({"num_hidden_layers": null})", "missing keys: num_hidden_layers"},
    {"phi", R"({"partial_rotary_factor": "half"})", "partial_rotary_factor: got \"half\""},
    {"phi", R"({"partial_rotary_factor": 1.5})", "partial_rotary_factor: got 1.5"},
    {"phi", R"({"hidden_size": 65})", "hidden_size: got 65, want a multiple of the 4 heads"},

    {"opt", R"({"ffn_dim": null})", "missing keys: intermediate_size | n_inner"},
    {"opt", R"({"do_layer_norm_before": 1})", "do_layer_norm_before: got 1"},
    {"opt", R"({"word_embed_proj_dim": 0})", "word_embed_proj_dim: got 0"},
    {"opt", R"({"num_attention_heads": 5})", "hidden_size: got 64, want a multiple of the 5"},

    {"bloom", R"({"n_layer": null})", "missing keys: num_hidden_layers | n_layer"},
    {"bloom", R"({"n_layer": "all"})", "n_layer: got \"all\""},
    {"bloom", R"({"n_head": 0})", "n_head: got 0"},
    {"bloom", R"({"n_embed": 128})", "n_embed: got 128, want the 64 that hidden_size says"},

    {"mpt", R"({"max_seq_len": null})", "missing keys: max_position_embeddings"},
    {"mpt", R"({"attn_config": true})", "attn_config: got true, want an object"},
    {"mpt", R"({"expansion_ratio": 0})", "expansion_ratio: got 0"},
    {"mpt", R"({"d_model": 62})", "d_model: got 62, want a multiple of the 4 heads"},

    {"bert", R"({"type_vocab_size": null})", "missing keys: type_vocab_size"},
    {"bert", R"({"hidden_dropout_prob": "0.1"})", "hidden_dropout_prob: got \"0.1\""},
    {"bert", R"({"type_vocab_size": -1})", "type_vocab_size: got -1"},
    {"bert", R"({"type_vocab_size": 101})", "type_vocab_size: got 101, want 0 to the 100 tokens"},
    {"bert", R"({"is_decoder": true})", "is_decoder: got true"},

    {"t5", R"({"d_model": null})", "missing keys: hidden_size | n_embd | d_model"},
    {"t5", R"({"feed_forward_proj": 2})", "feed_forward_proj: got 2"},
    {"t5", R"({"d_kv": 0})", "d_kv: got 0"},
    {"t5", R"({"num_decoder_layers": 0})", "num_decoder_layers: got 0"},
    {"t5", R"({"decoder_seq": 8})", "decoder_seq: got 8, want 0 if"},

    {"vit", R"({"patch_size": null})", "missing keys: patch_size"},
    {"vit", R"({"image_size": [32, 32]})", "image_size: got [32,32]"},
    {"vit", R"({"num_channels": 0})", "num_channels: got 0"},
    {"vit", R"({"patch_size": 7})", "image_size: got 32, want a multiple of the patch, 7"},

    {"switch_transformers", R"({"num_experts": null})", "missing keys: num_experts"},
    {"switch_transformers", R"({"num_experts": "8"})", "num_experts: got \"8\""},
    {"switch_transformers", R"({"num_experts": 0})", "num_experts: got 0"},
    {"switch_transformers", R"({"num_sparse_encoder_layers": 3})",
     "num_sparse_encoder_layers: got 3, want a divisor of the 4 layers"},
};

// A file that is no config.json, and what the sentence says after the file's name.
struct BadText {
  std::string text;
  const char* wants;
};

std::vector<BadText> BadTexts() {
  const std::string deep(200'000, '[');
  return {
      {"", "got a syntax error or the end of the file, want JSON"},
      {"   \n", "got a syntax error or the end of the file, want JSON"},
      {"not JSON", "got a syntax error or the end of the file, want JSON"},
      {"{", "got a syntax error or the end of the file, want JSON"},
      {R"({"model_type": "llama",})", ":1:24: got a syntax error"},
      {R"({"model_type": "llama"} {})", "got a syntax error or the end of the file, want JSON"},
      {R"({"model_type": "llama", "hidden_size": NaN})", ":1:40: got a syntax error"},
      {R"({"model_type": "llama", "hidden_size": -Infinity})",
       "got a syntax error or the end of the file, want JSON"},
      {R"({"model_type": "llama", "hidden_size": 1e999})", "number too large"},
      {R"({"model_type": "llama", "hidden_size": 64, "hidden_size": 128})",
       "\"hidden_size\" is given twice"},
      {"[]", "got [], want one JSON object"},
      {"\"llama\"", "got \"llama\", want one JSON object"},
      {"64", "got 64, want one JSON object"},
      {"null", "got null, want one JSON object"},
      {"{}", "missing keys: model_type"},
      {std::string("\xff\xfe{\0}\0", 6), "got a syntax error or the end of the file, want JSON"},
      {deep + std::string(deep.size(), ']'), "nested deeper"},
      {deep, "nested deeper"},
  };
}

// A correct network that cannot be divided as the plan requires.
struct BadPlan {
  const char* family;
  const char* flags;
  const char* wants;
};

const std::vector<BadPlan> kBadPlans = {
    {"llama", "--ep 2", "expert_parallel: got 2, but "},
    {"gpt2", "--ep 8", "has no experts"},
    {"mixtral", "--ep 4", "expert_parallel: 4 does not divide the 6 experts"},
    {"qwen2_moe", "--ep 8", "expert_parallel: 8 does not divide the 6 experts"},
    {"mixtral", "--ep 3", "expert parallel: 3 does not divide dp 8 x cp 1 = 8"},
    {"mixtral", "--ep 4 --tp 4", "expert parallel: 4 does not divide dp 2 x cp 1 = 2"},
    {"deepseek_v3", "--ep 8 --cp 2 --pp 2", "expert parallel: 8 does not divide dp 2 x cp 2 = 4"},
    {"mixtral", "--ep 0", "--ep: got 0, want 1 or more"},
    {"mixtral", "--ep -2", "--ep: got -2, want 1 or more"},
    {"deepseek_v3", "--ep 4 --zero 3 --zero-group 2", "zero_group: 2 is not a multiple of expert"},
    {"mixtral", "--ep 2 --expert-imbalance 0.5", "--expert-imbalance: got 0.5, want 1 or more"},
    {"mixtral", "--ep 2 --expert-imbalance 2.5", "expert_imbalance: got 2.5, but one of 2 ranks"},
    {"mixtral", "--expert-imbalance 1.1", "expert_imbalance: got 1.1, but one of 1 ranks"},
    {"mixtral", "--embedding-placement redistributed --pp 2 --vpp 2",
     "redistributed vocabulary placement: wants one chunk"},
    {"mixtral", "--embedding-placement last",
     "--embedding-placement: got \"last\", want one of first-last, redistributed, vocab-1, "
     "vocab-2, "
     "interlaced"},
    {"mixtral", "--embedding-placement vocab-1", "vocabulary: vocab-1 with one pipeline stage"},
    {"mixtral", "--embedding-placement vocab-2 --pp 2 --vpp 2",
     "vocabulary: vocab-2 with schedule interleaved, want it with 1f1b or v-half or v-min"},
    {"llama", "--embedding-placement interlaced --pp 2 --schedule zb-v --vpp 2",
     "vocabulary: interlaced with schedule zb-v, want it with 1f1b"},
    {"llama", "--embedding-placement vocab-1 --pp 2 --forward-only",
     "vocabulary: vocab-1 with forward passes alone, want a training step"},
    {"t5", "--embedding-placement vocab-1 --pp 2", "looks up tokens in another layer, too"},
    {"vit", "--embedding-placement vocab-1 --pp 2", "does not begin with a table of tokens"},
    {"mixtral", "--fp8-recipe mx --precision fp8", "fp8_recipe: "},
    {"mixtral", "--fp8-recipe tile", "--fp8-recipe: got \"tile\""},
    {"mixtral", "--replica-micro-batches 2,2", "replica_micro_batches: got 2 numbers"},
    {"mixtral", "--gradient-bytes 3", "--gradient-bytes: got \"3\", want one of 2, 4"},
    {"mixtral", "--ep 2 --expert-imbalance nan", "--expert-imbalance: got \"nan\""},
    {"mixtral", "--ep 2 --expert-imbalance inf", "--expert-imbalance: got \"inf\""},
    {"gpt2", "--tp 8", "tensor_parallel: 8 does not divide the 4 attention heads"},
    {"mistral", "--tp 8", "tensor_parallel: 8 does not divide the 12 attention heads"},
    {"mistral", "--tp 4", "tensor_parallel: 4 neither divides nor is a multiple of the 6 key"},
    {"qwen3", "--tp 4", "tensor_parallel: 4 does not divide the hidden size 66"},
    {"bert", "--tp 8", "tensor_parallel: 8 does not divide the 4 attention heads"},
    {"t5", "--tp 8", "tensor_parallel: 8 does not divide the 4 attention heads"},
    {"gpt2", "--cp 8 --cp-exchange ulysses", "context_parallel: tensor_parallel 1 x 8 does not"},
    {"gpt2", "--tp 4 --cp 2 --cp-exchange ulysses", "4 attention heads"},
    {"llama", "--cp 8 --seq 60", "context_parallel: 8 does not divide the sequence 60"},
    {"llama", "--tp 4 --seq 30", "tensor_parallel: 4 does not divide the 30 tokens"},
    {"llama", "--tp 4 --cp 2 --seq 36", "tensor_parallel: 4 does not divide the 18 tokens"},
    {"llama", "--zero 3 --zero-group 3", "zero_group: 3 does not divide the 8 data-parallel"},
    {"llama", "--tp 2 --zero 1 --zero-group 8", "zero_group: 8 does not divide the 4 data"},
    {"llama", "--zero-group -1", "--zero-group: got -1, want 1 or more"},
    {"llama", "--pp 2 --vpp 5", "virtual stages 5 = 10 is more than the 8 layers"},
    {"llama", "--pp 2 --schedule interleaved",
     "order: interleaved with 1 chunk per stage, want at least 2"},
    {"llama", "--pp 2 --vpp 2 --schedule gpipe", "order: gpipe with 2 chunks"},
    {"llama", "--tp 2 --overlap-tp --no-sequence-parallel", "overlap_tensor: wants sequence"},
    {"vit", "--pp 8", "is more than the 6 layers"},
};

using BadNetworkTest = bad_input::FolderTest;

TEST_F(BadNetworkTest, KeysOfAConfigAreNamed) {
  std::vector<Case> cases;
  for (const BadKey& bad : kBadKeys) {
    Json json = Json::parse(Configs().at(bad.family));
    json.merge_patch(Json::parse(bad.change));
    cases.push_back(ModelCase(fmt::format("{}.json", cases.size()), json.dump(), bad.wants));
  }
  ExpectRefused(cases);
  EXPECT_GE(cases.size(), 70u);
}

TEST_F(BadNetworkTest, FilesThatAreNoConfigAreNamed) {
  std::vector<Case> cases;
  for (const BadText& bad : BadTexts()) {
    cases.push_back(ModelCase(fmt::format("{}.json", cases.size()), bad.text, bad.wants));
  }
  cases.push_back(ModelCase("folder/config.json", "{}", "missing keys: model_type"));
  cases.back().line = "simulate --cluster h100-sxm:1x8 --model $T/folder";
  Write("other/readme.txt", "no config.json here");
  cases.push_back({"simulate --cluster h100-sxm:1x8 --model $T/other", "cannot be read",
                   "$T/other/config.json"});
  ExpectRefused(cases);
}

TEST_F(BadNetworkTest, WhatDoesNotDivideIsNamed) {
  std::vector<Case> cases;
  for (const auto& [family, text] : Configs()) {
    Write(family + ".json", text);
    const std::string line =
        "simulate --cluster h100-sxm:1x8 --global-batch 8 --model $T/" + family + ".json ";
    const bad_input::Result sound = bad_input::RunLine(Expand(line));
    EXPECT_EQ(sound.code, kExitOk) << family << ": " << sound.err;
  }
  for (const BadPlan& bad : kBadPlans) {
    cases.push_back({fmt::format("simulate --cluster h100-sxm:1x8 --global-batch 8 --model "
                                 "$T/{}.json {}",
                                 bad.family, bad.flags),
                     bad.wants});
  }
  ExpectRefused(cases);
}

}  // namespace
}  // namespace stagecraft
