// Reads the config.json that Hugging Face keeps beside a network's weights.
#pragma once

#include <string>
#include <variant>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"

namespace stagecraft {

using NetworkConfig =
    std::variant<DecoderConfig, EncoderConfig, VisionConfig, EncoderDecoderConfig>;

// Understands the model_type of dense decoders (llama, mistral, qwen2, qwen3, gemma, gemma2,
// gemma3_text, olmo2, phi, phi3, gpt2, gpt_neox, gptj, opt, bloom, mpt, falcon, nemotron), of
// mixtures of experts (mixtral, qwen2_moe, qwen3_moe, qwen3_next, deepseek_v2, deepseek_v3,
// deepseek_v32, kimi_k2, glm4_moe, llama4_text, gpt_oss, dbrx, grok-1), of state space models and
// hybrids (mamba2, nemotron_h), of encoders (bert, roberta, vit) and encoder-decoders (t5,
// switch_transformers); or the class in `architectures` if model_type is absent; the synonyms of
// other frameworks for the common keys; and a decoder nested under `text_config`, in which case the
// vision part of the file is not counted. Dropout is on if one of its probabilities is above zero.
// Keys that change neither shape nor cost are ignored. Windows and chunks of attention are read, by
// layer where a file says so. The head of a BERT is the one that `architectures` names, or masked
// tokens if it names another. A T5 may have `encoder_seq` and `decoder_seq`. The result is
// complete: no size that a network has is zero.
//
// Throws an InputError whose text starts with `file_name`; if keys are missing it lists every one
// with its accepted spellings.
NetworkConfig ParseHuggingFaceNetwork(const std::string& json_text, const std::string& file_name);

// Returns a name for people: "llama", "bert", ...
const std::string& NetworkFamilyName(const NetworkConfig& config);

Workload BuildNetwork(const NetworkConfig& config, AttentionBackend attention, std::string name);

}  // namespace stagecraft
