// The keys of config.json as tables: which there are, how each is spelled and what it sets. Only
// the hf_config sources include this header. Absent spellings are null.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/readers/hf_config_families.h"
#include "sim/workload/readers/hf_config_reader.h"

namespace stagecraft::hf_config_keys {

enum class Need { kAlways, kByFamily, kNever };

// One size and how frameworks spell it, beginning with Hugging Face.
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
    {"head_size", &DecoderConfig::head_size, Need::kNever, {"head_dim", "kv_channels", "d_kv"}},
    {"ffn",
     &DecoderConfig::ffn,
     Need::kByFamily,
     {"intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "d_ff"}},
    {"vocab", &DecoderConfig::vocab, Need::kAlways, {"vocab_size"}},
    {"max_sequence",
     &DecoderConfig::max_sequence,
     Need::kByFamily,
     {"max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len"}},
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
  std::array<const char*, 6> keys;
};
inline constexpr std::array<DropoutField, 2> kDropouts = {{
    {&DecoderConfig::attention_dropout,
     {"attn_pdrop", "attention_dropout", "attention_probs_dropout_prob"}},
    {&DecoderConfig::hidden_dropout,
     {"resid_pdrop", "embd_pdrop", "hidden_dropout", "hidden_dropout_prob", "dropout",
      "emb_pdrop"}},
}};

struct ActivationName {
  const char* name;
  Activation activation;
};
inline constexpr std::array<ActivationName, 9> kActivations = {{
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kTanhGelu},
    {"gelu_fast", Activation::kGelu},
    {"gelu_pytorch_tanh", Activation::kGelu},
    {"quick_gelu", Activation::kGelu},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"relu2", Activation::kSquaredRelu},
}};

// Keys that make a network of experts, which is not dense, if they are above one or true.
inline constexpr std::array<const char*, 3> kExperts = {"num_local_experts", "num_experts",
                                                        "n_routed_experts"};

// The parts of reading that several networks share.

// `family` is null if the file names none: then model_type is already among the missing keys.
void ReadSizes(ConfigReader& reader, const Family* family, DecoderConfig& config);
void ReadSwitches(const ConfigReader& reader, DecoderConfig& config);
void ReadActivation(const ConfigReader& reader, const char* key, DecoderConfig& config);
// Throws unless the key is absent, false or a number of at most one.
void Refuse(const ConfigReader& reader, const char* key, const std::string& wanted);

// Adds experts to what was read, and latent attention if the family has it.
void ReadMoe(ConfigReader& reader, const Family& family, DecoderConfig& config);
void ReadLatentAttention(ConfigReader& reader, DecoderConfig& config);
// Read which blocks have windows, chunks or the delta rule, and what the recurrences are.
void ReadWindows(ConfigReader& reader, const Family& family, DecoderConfig& config);
void ReadDelta(ConfigReader& reader, DecoderConfig& config);
void ReadPureSsm(ConfigReader& reader, DecoderConfig& config);
void ReadHybrid(ConfigReader& reader, DecoderConfig& config);

// These read whole networks. `family` is null only for a decoder that the file does not name.
DecoderConfig ReadDecoder(ConfigReader& reader, const Family* family);
EncoderConfig ReadEncoder(ConfigReader& reader, const Family& family);
VisionConfig ReadVision(ConfigReader& reader, const Family& family);
EncoderDecoderConfig ReadEncoderDecoder(ConfigReader& reader, const Family& family);

}  // namespace stagecraft::hf_config_keys
