// The families of networks that a config.json may name, and what reads each of them. Only the
// hf_config sources include this header.
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace stagecraft::hf_config_keys
