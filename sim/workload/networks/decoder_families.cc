#include <array>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/networks/decoder.h"

namespace stagecraft {
namespace {

DecoderConfig Gpt() {
  DecoderConfig config;
  config.activation = Activation::kTanhGelu;
  config.learned_positions = true;
  config.norm_bias = config.qkv_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = true;
  config.attention_dropout = config.hidden_dropout = true;
  return config;
}

DecoderConfig GptNeox() {
  DecoderConfig config = Gpt();
  config.activation = Activation::kGelu;
  config.learned_positions = config.tied_embeddings = false;
  config.attention_dropout = config.hidden_dropout = false;
  config.rotary_fraction = 0.25;
  config.parallel_residual = true;
  return config;
}

DecoderConfig GptJ() {
  DecoderConfig config = GptNeox();
  config.activation = Activation::kTanhGelu;
  config.qkv_bias = config.projection_bias = false;
  config.shared_norm = config.head_bias = true;
  return config;
}

DecoderConfig Phi() {
  DecoderConfig config = GptNeox();
  config.activation = Activation::kTanhGelu;
  config.rotary_fraction = 0.5;
  config.shared_norm = config.head_bias = true;
  return config;
}

DecoderConfig Opt() {
  DecoderConfig config = Gpt();
  config.activation = Activation::kRelu;
  config.attention_dropout = false;  // facebook/opt-*, config.json: attention_dropout 0.0
  config.position_offset = 2;
  return config;
}

DecoderConfig Mpt() {
  DecoderConfig config = Gpt();
  config.activation = Activation::kGelu;
  config.learned_positions = false;
  config.norm_bias = config.qkv_bias = config.projection_bias = config.mlp_bias = false;
  config.attention_dropout = config.hidden_dropout = false;
  return config;
}

DecoderConfig Bloom() {
  DecoderConfig config = Gpt();
  config.activation = Activation::kGelu;
  config.learned_positions = false;
  config.embedding_norm = true;
  config.attention_dropout = config.hidden_dropout = false;
  return config;
}

DecoderConfig Falcon() {
  DecoderConfig config = Mpt();
  config.rotary_fraction = 1;
  config.norm_bias = true;
  config.parallel_residual = config.shared_norm = true;
  return config;
}

DecoderConfig Llama() {
  DecoderConfig config;
  config.rotary_fraction = 1;
  config.gated_mlp = true;
  config.activation = Activation::kSilu;
  config.norm = NormKind::kRms;
  return config;
}

DecoderConfig Nemotron() {
  DecoderConfig config;
  config.rotary_fraction = 0.5;
  config.activation = Activation::kSquaredRelu;
  config.norm_bias = true;
  return config;
}

DecoderConfig Qwen2() {
  DecoderConfig config = Llama();
  config.qkv_bias = true;
  return config;
}

DecoderConfig Qwen3() {
  DecoderConfig config = Llama();
  config.qk_norm = true;
  return config;
}

DecoderConfig Gemma() {
  DecoderConfig config = Llama();
  config.activation = Activation::kGelu;
  config.tied_embeddings = config.scaled_embeddings = true;
  return config;
}

DecoderConfig Qwen2Moe() {
  DecoderConfig config = Qwen2();
  config.moe.shared_gate = true;
  return config;
}

DecoderConfig DeepSeekV3() {
  DecoderConfig config = Llama();
  config.moe.routing_bias = true;
  return config;
}

// The norms after attention and MLP make the sums of the stream small (Gemma 2, 2024, section 2).
DecoderConfig Gemma2() {
  DecoderConfig config = Gemma();
  config.norm_place = NormPlace::kBothEnds;
  config.capped_logits = true;
  return config;
}

DecoderConfig Gemma3() {
  DecoderConfig config = Gemma();
  config.norm_place = NormPlace::kBothEnds;
  config.qk_norm = true;
  return config;
}

DecoderConfig Olmo2() {
  DecoderConfig config = Llama();
  config.norm_place = NormPlace::kBranchEnd;
  config.qk_norm = true;
  config.qk_weights = QueryKeyWeights::kAllHeads;
  return config;
}

DecoderConfig Llama4() {
  DecoderConfig config = Llama();
  config.qk_norm = true;
  config.qk_weights = QueryKeyWeights::kNone;
  config.window.is_chunked = config.window.rotates_windows_only = true;
  return config;
}

DecoderConfig GptOss() {
  DecoderConfig config = Llama();
  config.qkv_bias = config.projection_bias = config.moe.biases = true;
  config.attention_sinks = true;
  return config;
}

DecoderConfig Glm4Moe() {
  DecoderConfig config = Llama();
  config.rotary_fraction = 0.5;
  config.moe.routing_bias = true;
  return config;
}

DecoderConfig Qwen3Next() {
  DecoderConfig config = Qwen3();
  config.rotary_fraction = 0.25;
  config.gated_attention = config.moe.shared_gate = true;
  return config;
}

DecoderConfig Mamba2() {
  DecoderConfig config;
  config.norm = NormKind::kRms;
  return config;
}

// Its attention has no positions (Nemotron-H, 2025, section 2.1).
DecoderConfig NemotronH() {
  DecoderConfig config = Mamba2();
  config.activation = Activation::kSquaredRelu;
  return config;
}

DecoderConfig Dbrx() {
  DecoderConfig config = Llama();
  config.norm = NormKind::kLayer;
  return config;
}

DecoderConfig Grok() {
  DecoderConfig config = Gemma();
  config.norm_place = NormPlace::kBothEnds;
  return config;
}

}  // namespace

DecoderConfig DecoderOfFamily(std::string_view family) {
  struct Row {
    const char* name;
    DecoderConfig (*make)();
  };
  constexpr std::array<Row, 32> kFamilies = {{{"gpt", Gpt},
                                              {"gpt_neox", GptNeox},
                                              {"gptj", GptJ},
                                              {"opt", Opt},
                                              {"mpt", Mpt},
                                              {"bloom", Bloom},
                                              {"falcon", Falcon},
                                              {"phi", Phi},
                                              {"llama", Llama},
                                              {"internlm", Llama},
                                              {"nemotron", Nemotron},
                                              {"mistral", Llama},
                                              {"phi3", Llama},
                                              {"qwen2", Qwen2},
                                              {"qwen3", Qwen3},
                                              {"gemma", Gemma},
                                              {"mixtral", Llama},
                                              {"qwen2_moe", Qwen2Moe},
                                              {"qwen3_moe", Qwen3},
                                              {"deepseek_v2", Llama},
                                              {"deepseek_v3", DeepSeekV3},
                                              {"gemma2", Gemma2},
                                              {"gemma3", Gemma3},
                                              {"olmo2", Olmo2},
                                              {"llama4", Llama4},
                                              {"gpt_oss", GptOss},
                                              {"glm4_moe", Glm4Moe},
                                              {"qwen3_next", Qwen3Next},
                                              {"mamba2", Mamba2},
                                              {"nemotron_h", NemotronH},
                                              {"dbrx", Dbrx},
                                              {"grok", Grok}}};
  for (const Row& row : kFamilies) {
    if (family != row.name) continue;
    DecoderConfig config = row.make();
    config.family = row.name;
    return config;
  }
  throw InputError("decoder family: got '" + std::string(family) + "', want one of " +
                   Join(kFamilies, ", ", &Row::name));
}

}  // namespace stagecraft
