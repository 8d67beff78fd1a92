#include <algorithm>
#include <string_view>

#include "costmodel/text.h"
#include "sim/workload/readers/hf_config_keys.h"
namespace stagecraft::hf_config_keys {
namespace {

using Json = nlohmann::json;

void ReadOpt(ConfigReader& reader, DecoderConfig& config) {
  reader.Size("embedding_size", {"word_embed_proj_dim"}, false, config.embedding_size);
  bool is_before = true;
  reader.Switch("do_layer_norm_before", is_before);
  bool lacks_final_norm = false;
  reader.Switch("_remove_final_layer_norm", lacks_final_norm);
  config.norm_place = is_before ? NormPlace::kBefore : NormPlace::kAfter;
  config.final_norm = is_before && !lacks_final_norm;
  bool has_bias = true;
  reader.Switch("enable_bias", has_bias);
  config.qkv_bias = config.projection_bias = config.mlp_bias = has_bias;
}

// Old files state num_kv_heads, too, but it has a meaning only with the new architecture.
void ReadFalcon(ConfigReader& reader, DecoderConfig& config) {
  bool is_new = false;
  bool has_one_key = true;
  bool is_parallel = true;
  bool has_bias = false;
  bool shifts_scores = false;
  reader.Switch("new_decoder_architecture", is_new);
  reader.Switch("multi_query", has_one_key);
  reader.Switch("parallel_attn", is_parallel);
  reader.Switch("bias", has_bias);
  reader.Switch("alibi", shifts_scores);
  if (is_new) {
    reader.Size("kv_heads", {"num_kv_heads"}, false, config.kv_heads);
  } else if (has_one_key) {
    config.kv_heads = 1;
  }
  config.parallel_residual = is_new || is_parallel;
  config.shared_norm = config.parallel_residual && !is_new;
  config.qkv_bias = config.projection_bias = config.mlp_bias = has_bias;
  config.rotary_fraction = shifts_scores ? 0 : 1;
}

void ReadMpt(ConfigReader& reader, DecoderConfig& config) {
  int64_t expansion = 4;
  reader.Size("expansion_ratio", {"expansion_ratio"}, false, expansion);
  if (config.ffn == 0) config.ffn = expansion * config.hidden;
  bool lacks_bias = true;
  reader.Switch("no_bias", lacks_bias);
  config.norm_bias = config.qkv_bias = config.projection_bias = config.mlp_bias = !lacks_bias;
  // Scores are shifted unless the file says otherwise; then positions are learned.
  const Json* attention = reader.Find("attn_config");
  if (attention == nullptr) return;
  if (!attention->is_object()) reader.Fail("attn_config", *attention, "an object");
  const auto alibi = attention->find("alibi");
  config.learned_positions = alibi != attention->end() && *alibi == false;
}

void ReadGptJ(ConfigReader& reader, DecoderConfig& config) {
  int64_t rotated = 0;
  reader.Size("rotary_dim", {"rotary_dim"}, false, rotated);
  const int64_t head = config.heads > 0 ? config.hidden / config.heads : 0;
  if (rotated > 0 && head > 0) {
    config.rotary_fraction =
        std::min(1.0, static_cast<double>(rotated) / static_cast<double>(head));
  }
}

// A number caps the logits, null does not; without the key, Gemma-2's are capped.
void ReadGemma2(ConfigReader& reader, DecoderConfig& config) {
  constexpr const char* kKey = "final_logit_softcapping";
  if (!reader.HasKey(kKey)) return;
  const Json* cap = reader.Find(kKey);
  if (cap != nullptr && !cap->is_number()) reader.Fail(kKey, *cap, "a number or null");
  config.capped_logits = cap != nullptr;
}

bool HasDelta(const DecoderConfig& config) {
  return std::find(config.mixers.begin(), config.mixers.end(), Mixer::kDelta) !=
         config.mixers.end();
}

// Reads what only some families state.
void ReadFamily(ConfigReader& reader, const Family& family, DecoderConfig& config) {
  constexpr int64_t kGemmaHeadSize = 256;  // of every Gemma of the first kind
  const std::string_view name = family.builder;
  if (name == "opt") ReadOpt(reader, config);
  if (name == "falcon") ReadFalcon(reader, config);
  if (name == "mpt") ReadMpt(reader, config);
  if (name == "gptj") ReadGptJ(reader, config);
  if (name == "phi") reader.Switch("qk_layernorm", config.qk_norm);
  if (name == "gemma2") ReadGemma2(reader, config);
  if (name == "llama4" || name == "glm4_moe") reader.Switch("use_qk_norm", config.qk_norm);
  if (name == "glm4_moe") config.projection_bias = false;  // attention_bias means the others
  if (name == "gemma" && config.head_size == 0) config.head_size = kGemmaHeadSize;
}

}  // namespace

void ReadSizes(ConfigReader& reader, const Family* family, DecoderConfig& config) {
  const std::string_view builder = family == nullptr ? "" : family->builder;
  for (const SizeField& field : kSizes) {
    const std::string_view name = field.name;
    // Falcon's key for it has another meaning.
    if (builder == "falcon" && name == "kv_heads") continue;
    bool is_needed = field.need == Need::kAlways;
    if (field.need == Need::kByFamily) {
      const bool by_ffn = family != nullptr && family->needs_ffn;
      const bool by_sequence = family == nullptr || family->max_sequence == 0;
      is_needed = name == "ffn" ? by_ffn : by_sequence;
    }
    const bool has_usual_vocab = name == "vocab" && family != nullptr && family->vocab > 0;
    if (has_usual_vocab) config.vocab = family->vocab;
    is_needed = is_needed && !has_usual_vocab;
    const bool is_there = reader.Size(field.name, field.spellings, is_needed, config.*field.member);
    if (!is_there && name == "max_sequence" && family != nullptr) {
      config.max_sequence = family->max_sequence;
    }
  }
}

void ReadSwitches(const ConfigReader& reader, DecoderConfig& config) {
  for (const SwitchField& field : kSwitches) {
    if (reader.Find(field.key) == nullptr) continue;
    bool value = false;
    reader.Switch(field.key, value);
    for (const auto member : field.members) {
      if (member != nullptr) config.*member = value;
    }
  }
  for (const DropoutField& field : kDropouts) reader.Dropout(field.keys, config.*field.member);
}

void ReadActivation(const ConfigReader& reader, const char* key, DecoderConfig& config) {
  const Json* value = reader.Find(key);
  if (value == nullptr) return;
  for (const ActivationName& row : kActivations) {
    if (*value != row.name) continue;
    config.activation = row.activation;
    return;
  }
  reader.Fail(key, *value, "one of " + Join(kActivations, ", ", &ActivationName::name));
}

void Refuse(const ConfigReader& reader, const char* key, const std::string& wanted) {
  const Json* value = reader.Find(key);
  if (value == nullptr) return;
  const bool is_plain =
      value->is_boolean() ? !value->get<bool>() : value->is_number() && value->get<double>() <= 1;
  if (!is_plain) reader.Fail(key, *value, wanted);
}

DecoderConfig ReadDecoder(ConfigReader& reader, const Family* family) {
  DecoderConfig config;
  if (family != nullptr) config = DecoderOfFamily(family->builder);
  ReadSizes(reader, family, config);
  const Network network = family == nullptr ? Network::kDecoder : family->network;
  const bool is_moe = network == Network::kMoe || network == Network::kLatentMoe;
  if (is_moe) ReadMoe(reader, *family, config);
  if (network == Network::kLatentMoe) ReadLatentAttention(reader, config);
  if (family != nullptr) ReadWindows(reader, *family, config);
  if (HasDelta(config)) ReadDelta(reader, config);
  if (network == Network::kSsm) ReadPureSsm(reader, config);
  if (network == Network::kHybrid) ReadHybrid(reader, config);
  reader.ThrowIfMissing();
  ReadSwitches(reader, config);
  for (const char* key :
       {"hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act"}) {
    // That of the convolution of a state space model is part of its kernel.
    if (network == Network::kSsm) continue;
    ReadActivation(reader, key, config);
  }
  for (const char* key : {"rotary_pct", "partial_rotary_factor"}) {
    reader.Fraction(key, config.rotary_fraction);
  }
  Refuse(reader, "add_cross_attention", "a plain decoder without it");
  for (const char* key : kExperts) {
    if (!is_moe) Refuse(reader, key, "a plain decoder without it");
  }
  if (family != nullptr) ReadFamily(reader, *family, config);
  config = Completed(config);
  reader.ThrowFirst(FindErrors(config));
  return config;
}

}  // namespace stagecraft::hf_config_keys
