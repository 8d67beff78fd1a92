// Small config.json files, one per kind of network, for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/check.h"
#include "sim/workload/readers/hf_config.h"

namespace stagecraft::test_files {

using Json = nlohmann::json;

inline Json Decoder(const char* model_type) {
  return {{"model_type", model_type},     {"vocab_size", 100},      {"hidden_size", 64},
          {"intermediate_size", 128},     {"num_hidden_layers", 4}, {"num_attention_heads", 4},
          {"max_position_embeddings", 32}};
}

inline Json With(Json json, const Json& more) {
  json.update(more);
  return json;
}

inline Json Mixtral() {
  return With(Decoder("mixtral"), {{"num_local_experts", 8}, {"num_experts_per_tok", 2}});
}

inline Json Qwen() {
  return With(Decoder("qwen2_moe"), {{"num_experts", 6},
                                     {"num_experts_per_tok", 2},
                                     {"moe_intermediate_size", 32},
                                     {"shared_expert_intermediate_size", 96}});
}

inline Json DeepSeek() {
  return With(Decoder("deepseek_v3"), {{"n_routed_experts", 8},
                                       {"num_experts_per_tok", 2},
                                       {"moe_intermediate_size", 32},
                                       {"n_shared_experts", 2},
                                       {"first_k_dense_replace", 1},
                                       {"n_group", 4},
                                       {"topk_group", 2},
                                       {"q_lora_rank", 24},
                                       {"kv_lora_rank", 16},
                                       {"qk_nope_head_dim", 16},
                                       {"qk_rope_head_dim", 8},
                                       {"v_head_dim", 16}});
}

inline Json Bert() { return With(Decoder("bert"), {{"type_vocab_size", 2}}); }

inline Json T5() {
  return {{"model_type", "t5"}, {"vocab_size", 100}, {"d_model", 64}, {"d_ff", 128},
          {"num_layers", 4},    {"num_heads", 4},    {"d_kv", 8}};
}

inline Json Switch() {
  return With(T5(), {{"model_type", "switch_transformers"},
                     {"num_experts", 8},
                     {"num_sparse_encoder_layers", 2},
                     {"num_sparse_decoder_layers", 1}});
}

inline Json Vision() {
  return {{"model_type", "vit"},    {"hidden_size", 64},        {"intermediate_size", 128},
          {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"image_size", 32},
          {"patch_size", 8}};
}

// Returns the message that reading it throws.
inline std::string ErrorOf(const Json& json) {
  try {
    ParseHuggingFaceNetwork(json.dump(), "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace stagecraft::test_files
