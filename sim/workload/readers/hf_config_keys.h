// The keys of config.json as tables: which there are, how each is spelled and what it sets. Only
// the hf_config sources include this header. Absent spellings are null.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/readers/hf_config_reader.h"

namespace stagecraft::hf_config_keys {

// kLatentMoe: experts as in DeepSeek-V2's files, and latent attention; kSsm, kHybrid: state space
// models alone, or with attention and MLPs.
enum class Network {
  kDecoder,
  kMoe,
  kLatentMoe,
  kSsm,
  kHybrid,
  kEncoder,
  kEncoderDecoder,
  kVision
};

struct Family {
  const char* model_type;
  const char* architecture;  // what the name of the class starts with
  const char* builder;       // the name for DecoderOfFamily() and its like
  Network network = Network::kDecoder;
  bool needs_ffn = true;     // false: 4 x hidden if absent
  int64_t max_sequence = 0;  // if the key is absent; 0: it is needed
  int64_t vocab = 0;         // the same
};
inline constexpr std::array<Family, 38> kFamilies = {{
    {"llama", "LlamaForCausalLM", "llama"},
    {"gpt2", "GPT2LMHeadModel", "gpt", Network::kDecoder, false},
    {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox"},
    {"nemotron", "NemotronForCausalLM", "nemotron"},
    {"mistral", "MistralForCausalLM", "mistral"},
    {"qwen2", "Qwen2ForCausalLM", "qwen2"},
    {"qwen3", "Qwen3ForCausalLM", "qwen3"},
    {"gemma", "GemmaForCausalLM", "gemma"},
    {"phi", "PhiForCausalLM", "phi"},
    {"phi3", "Phi3ForCausalLM", "phi3"},
    {"gptj", "GPTJForCausalLM", "gptj", Network::kDecoder, false},
    {"opt", "OPTForCausalLM", "opt"},
    {"bloom", "BloomForCausalLM", "bloom", Network::kDecoder, false, 2048},
    {"mpt", "MptForCausalLM", "mpt", Network::kDecoder, false},
    {"falcon", "FalconForCausalLM", "falcon", Network::kDecoder, false, 2048},
    {"mixtral", "MixtralForCausalLM", "mixtral", Network::kMoe},
    {"qwen2_moe", "Qwen2MoeForCausalLM", "qwen2_moe", Network::kMoe},
    {"qwen3_moe", "Qwen3MoeForCausalLM", "qwen3_moe", Network::kMoe},
    {"deepseek_v2", "DeepseekV2ForCausalLM", "deepseek_v2", Network::kLatentMoe},
    {"deepseek_v3", "DeepseekV3ForCausalLM", "deepseek_v3", Network::kLatentMoe},
    {"kimi_k2", "KimiK2ForCausalLM", "deepseek_v3", Network::kLatentMoe},
    {"deepseek_v32", "DeepseekV32ForCausalLM", "deepseek_v3", Network::kLatentMoe},
    {"glm4_moe", "Glm4MoeForCausalLM", "glm4_moe", Network::kMoe},
    {"llama4_text", "Llama4ForCausalLM", "llama4", Network::kMoe},
    {"gpt_oss", "GptOssForCausalLM", "gpt_oss", Network::kMoe},
    {"qwen3_next", "Qwen3NextForCausalLM", "qwen3_next", Network::kMoe},
    {"dbrx", "DbrxForCausalLM", "dbrx", Network::kMoe},
    {"grok-1", "Grok1ModelForCausalLM", "grok", Network::kMoe},
    {"gemma2", "Gemma2ForCausalLM", "gemma2"},
    // Files of several sizes leave out what Gemma3TextConfig has by default.
    {"gemma3_text", "Gemma3ForCausalLM", "gemma3", Network::kDecoder, true, 131'072, 262'208},
    {"olmo2", "Olmo2ForCausalLM", "olmo2"},
    // It has no limit; it was trained on sequences of 2,048 (Dao and Gu, 2024, section 9).
    {"mamba2", "Mamba2ForCausalLM", "mamba2", Network::kSsm, false, 2048},
    {"nemotron_h", "NemotronHForCausalLM", "nemotron_h", Network::kHybrid},
    {"bert", "Bert", "bert", Network::kEncoder},
    {"roberta", "Roberta", "roberta", Network::kEncoder},
    {"t5", "T5", "t5", Network::kEncoderDecoder, true, 512},
    {"switch_transformers", "SwitchTransformers", "t5", Network::kEncoderDecoder, true, 512},
    {"vit", "ViT", "vit", Network::kVision},
}};

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
