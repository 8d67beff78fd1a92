#include "tools/frameworks/network_file.h"

#include <string_view>
#include <variant>

#include "costmodel/check.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_to_proto.h"
#include "tools/verb/proto_text.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

struct Candidate {
  const char* model_type;
  const char* architecture;
};
constexpr Candidate kCandidates[] = {{"llama", "LlamaForCausalLM"},
                                     {"qwen2", "Qwen2ForCausalLM"},
                                     {"qwen3", "Qwen3ForCausalLM"},
                                     {"gpt2", "GPT2LMHeadModel"},
                                     {"mpt", "MptForCausalLM"},
                                     {"nemotron", "NemotronForCausalLM"},
                                     {"mixtral", "MixtralForCausalLM"},
                                     {"qwen3_moe", "Qwen3MoeForCausalLM"},
                                     {"qwen2_moe", "Qwen2MoeForCausalLM"},
                                     {"deepseek_v3", "DeepseekV3ForCausalLM"},
                                     {"deepseek_v2", "DeepseekV2ForCausalLM"}};

const char* ActivationWord(const DecoderConfig& config) {
  switch (config.activation) {
    case Activation::kGelu:
      return "gelu";
    case Activation::kTanhGelu:
      return "gelu_new";
    case Activation::kRelu:
      return "relu";
    case Activation::kSilu:
      return "silu";
    case Activation::kSquaredRelu:
      break;
  }
  return "relu2";
}

void AddExperts(const DecoderConfig& config, const Candidate& candidate, Json& json) {
  const MoeConfig& moe = config.moe;
  const bool is_deepseek = std::string_view(candidate.model_type).starts_with("deepseek");
  const bool is_mixtral = std::string_view(candidate.model_type) == "mixtral";
  json[is_deepseek  ? "n_routed_experts"
       : is_mixtral ? "num_local_experts"
                    : "num_experts"] = moe.experts;
  json["num_experts_per_tok"] = moe.experts_per_token;
  json["moe_intermediate_size"] = moe.ffn;
  if (!is_deepseek) {
    if (moe.shared_ffn > 0) json["shared_expert_intermediate_size"] = moe.shared_ffn;
    if (!moe.dense_layers.empty()) json["mlp_only_layers"] = moe.dense_layers;
    return;
  }
  json["n_shared_experts"] = moe.ffn > 0 ? moe.shared_ffn / moe.ffn : 0;
  json["first_k_dense_replace"] = moe.dense_layers.size();
  json["n_group"] = moe.groups;
  json["topk_group"] = moe.groups_per_token;
}

void AddLatentAttention(const DecoderConfig& config, Json& json) {
  const MlaConfig& mla = config.mla;
  json.erase("head_dim");  // it follows from these
  json.erase("num_key_value_heads");
  json["q_lora_rank"] = mla.query_rank > 0 ? Json(mla.query_rank) : Json(nullptr);
  json["kv_lora_rank"] = mla.kv_rank;
  json["qk_nope_head_dim"] = mla.plain_size;
  json["qk_rope_head_dim"] = mla.rotary_size;
  json["v_head_dim"] = mla.value_size;
  json["num_nextn_predict_layers"] = config.prediction_layers;
}

Json ConfigAs(const DecoderConfig& config, const Candidate& candidate) {
  Json json = {{"model_type", candidate.model_type},
               {"architectures", {candidate.architecture}},
               {"num_hidden_layers", config.layers},
               {"hidden_size", config.hidden},
               {"num_attention_heads", config.heads},
               {"num_key_value_heads", config.kv_heads},
               {"head_dim", config.head_size},
               {"intermediate_size", config.ffn},
               {"vocab_size", config.vocab},
               {"max_position_embeddings", config.max_sequence},
               {"tie_word_embeddings", config.tied_embeddings},
               {"hidden_act", ActivationWord(config)}};
  if (config.rotary_fraction > 0 && config.rotary_fraction < 1) {
    json["partial_rotary_factor"] = config.rotary_fraction;
  }
  if (config.attention_dropout) json["attention_dropout"] = 0.1;
  if (config.hidden_dropout) json["hidden_dropout"] = 0.1;
  const bool is_gpt = std::string_view(candidate.model_type) == "gpt2";
  if (is_gpt && !config.attention_dropout) json["attn_pdrop"] = 0.0;
  if (is_gpt && !config.hidden_dropout) json["resid_pdrop"] = 0.0;
  if (config.moe.experts > 0) AddExperts(config, candidate, json);
  if (config.mla.kv_rank > 0) AddLatentAttention(config, json);
  return json;
}

bool ReadsAs(const Json& json, const DecoderConfig& config) {
  try {
    const NetworkConfig read = ParseHuggingFaceNetwork(json.dump(), "config.json");
    const auto* const decoder = std::get_if<DecoderConfig>(&read);
    if (decoder == nullptr) return false;
    DecoderConfig named = *decoder;
    named.family = config.family;
    return named == config;
  } catch (const InputError&) {
    return false;  // the family has no such sizes
  }
}

}  // namespace

std::optional<Json> HuggingFaceConfig(const DecoderConfig& config) {
  for (const Candidate& candidate : kCandidates) {
    Json json = ConfigAs(config, candidate);
    if (ReadsAs(json, config)) return json;
    for (const bool has_bias : {true, false}) {
      Json with = json;
      with["attention_bias"] = has_bias;
      if (ReadsAs(with, config)) return with;
      with["mlp_bias"] = has_bias;
      if (ReadsAs(with, config)) return with;
    }
  }
  return std::nullopt;
}

std::string NetworkFileText(const DecoderConfig& config, const std::string& name) {
  if (const std::optional<Json> json = HuggingFaceConfig(config)) return json->dump(2) + "\n";
  return ProtoText(WorkloadToProto(BuildDecoder(config, AttentionBackend::kFlash, name)), ".json");
}

}  // namespace stagecraft
