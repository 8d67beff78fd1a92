// The keys of config.json as tables: which there are, how each is spelled and
// what it sets. Only hf_config.cc reads them; absent spellings are null.
#pragma once

#include <array>
#include <cstdint>

#include "sim/decoder.h"

namespace stagecraft::hf_config_keys {

inline constexpr int64_t kMaxSize = 1'000'000'000;  // larger ones are typing errors

struct Family {
  const char* model_type;
  const char* architecture;
  const char* decoder;  // for DecoderOfFamily
  bool needs_ffn;       // false: 4 x hidden where absent
};
inline constexpr std::array<Family, 4> kFamilies = {{
    {"llama", "LlamaForCausalLM", "llama", true},
    {"gpt2", "GPT2LMHeadModel", "gpt", false},
    {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox", true},
    {"nemotron", "NemotronForCausalLM", "nemotron", true},
}};

enum class Need { kAlways, kByFamily, kNever };

// One size and how frameworks spell it; Hugging Face first.
struct SizeField {
  const char* name;
  int64_t DecoderConfig::*member;
  Need need;
  std::array<const char*, 5> spellings;
};
inline constexpr std::array<SizeField, 8> kSizes = {{
    {"layers",
     &DecoderConfig::layers,
     Need::kAlways,
     {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}},
    {"hidden",
     &DecoderConfig::hidden,
     Need::kAlways,
     {"hidden_size", "n_embd", "d_model", "n_embed", "dim"}},
    {"heads",
     &DecoderConfig::heads,
     Need::kAlways,
     {"num_attention_heads", "n_head", "num_heads", "n_heads"}},
    {"kv_heads",
     &DecoderConfig::kv_heads,
     Need::kNever,
     {"num_key_value_heads", "num_query_groups", "n_kv_heads"}},
    {"head_size", &DecoderConfig::head_size, Need::kNever, {"head_dim", "kv_channels"}},
    {"ffn",
     &DecoderConfig::ffn,
     Need::kByFamily,
     {"intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim"}},
    {"vocab", &DecoderConfig::vocab, Need::kAlways, {"vocab_size"}},
    {"max_sequence",
     &DecoderConfig::max_sequence,
     Need::kAlways,
     {"max_position_embeddings", "n_positions", "n_ctx", "seq_length"}},
}};

struct SwitchField {
  const char* key;
  std::array<bool DecoderConfig::*, 2> members;
};
inline constexpr std::array<SwitchField, 5> kSwitches = {{
    {"tie_word_embeddings", {&DecoderConfig::tied_embeddings}},
    {"share_embeddings_and_output_weights", {&DecoderConfig::tied_embeddings}},
    {"attention_bias", {&DecoderConfig::qkv_bias, &DecoderConfig::projection_bias}},
    {"mlp_bias", {&DecoderConfig::mlp_bias}},
    {"use_parallel_residual", {&DecoderConfig::parallel_residual}},
}};

struct DropoutField {
  bool DecoderConfig::*member;
  std::array<const char*, 3> keys;
};
inline constexpr std::array<DropoutField, 2> kDropouts = {{
    {&DecoderConfig::attention_dropout, {"attn_pdrop", "attention_dropout"}},
    {&DecoderConfig::hidden_dropout, {"resid_pdrop", "embd_pdrop", "hidden_dropout"}},
}};

struct ActivationName {
  const char* name;
  Activation activation;
};
inline constexpr std::array<ActivationName, 9> kActivations = {{
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGelu},
    {"gelu_fast", Activation::kGelu},
    {"gelu_pytorch_tanh", Activation::kGelu},
    {"quick_gelu", Activation::kGelu},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"relu2", Activation::kSquaredRelu},
}};

// Above one, or true, these change the network in ways a plain decoder lacks.
inline constexpr std::array<const char*, 4> kRefused = {"num_local_experts", "num_experts",
                                                        "n_routed_experts", "add_cross_attention"};

}  // namespace stagecraft::hf_config_keys
