#include "sim/workload/readers/hf_config.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/file_kind.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/text.h"
#include "sim/workload/readers/hf_config_keys.h"
#include "sim/workload/readers/hf_config_reader.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;
using namespace hf_config_keys;

// Throws InputError if the keys of the file are those of another kind of file.
void RefuseOtherKinds(const Json& json, const std::string& place) {
  const std::string kind = KindOfJson(json);
  if (kind.empty()) return;
  throw InputError(place + ": the file is " + kind + ", want a Hugging Face config.json");
}

// Returns null if the file does not name the family, whose key is then recorded as missing.
const Family* FindFamily(ConfigReader& reader) {
  if (const Json* type = reader.Find("model_type")) {
    for (const Family& family : kFamilies) {
      if (*type == family.model_type) return &family;
    }
    reader.Fail("model_type", *type, "one of " + Join(kFamilies, ", ", &Family::model_type));
  }
  if (const Json* classes = reader.Find("architectures")) {
    const bool has_name = classes->is_array() && !classes->empty() && classes->front().is_string();
    const std::string name = has_name ? classes->front().get<std::string>() : "";
    for (const Family& family : kFamilies) {
      if (name.starts_with(family.architecture)) return &family;
    }
    reader.Fail("architectures", *classes,
                "one of " + Join(kFamilies, ", ", &Family::architecture));
  }
  reader.AddMissing("model_type (one of " + Join(kFamilies, ", ", &Family::model_type) + ")");
  return nullptr;
}

// DBRX's files have the sizes of attention and experts in objects of their own.
Json Flattened(const Json& json) {
  struct Inner {
    const char* object;
    const char* key;
    const char* usual;
  };
  constexpr Inner kInner[] = {{"attn_config", "kv_n_heads", "num_key_value_heads"},
                              {"ffn_config", "ffn_hidden_size", "intermediate_size"},
                              {"ffn_config", "moe_num_experts", "num_local_experts"},
                              {"ffn_config", "moe_top_k", "num_experts_per_tok"}};
  Json flat = json;
  for (const Inner& inner : kInner) {
    const auto object = json.find(inner.object);
    if (object == json.end() || !object->is_object() || !object->contains(inner.key)) continue;
    flat[inner.usual] = (*object)[inner.key];
  }
  return flat;
}

NetworkConfig ReadNetwork(const Json& given, const std::string& place) {
  const auto type = given.find("model_type");
  const bool is_nested = type != given.end() && *type == "dbrx";
  const Json json = is_nested ? Flattened(given) : given;
  if (!json.contains("model_type") && !json.contains("architectures")) {
    RefuseOtherKinds(json, place);
  }
  ConfigReader reader(json, place);
  const Family* family = FindFamily(reader);
  if (family == nullptr) return ReadDecoder(reader, family);
  switch (family->network) {
    case Network::kEncoder:
      return ReadEncoder(reader, *family);
    case Network::kVision:
      return ReadVision(reader, *family);
    case Network::kEncoderDecoder:
      return ReadEncoderDecoder(reader, *family);
    default:
      return ReadDecoder(reader, family);
  }
}

Json ParseObject(const std::string& text, const std::string& file) {
  Json json = ParseJson(text, file);
  if (!json.is_object()) {
    throw InputError(file + ": got " + ShownJson(json) + ", want one JSON object");
  }
  return json;
}

}  // namespace

NetworkConfig ParseHuggingFaceNetwork(const std::string& json_text, const std::string& file_name) {
  const Json json = ParseObject(json_text, file_name);
  const auto nested = json.find("text_config");
  if (nested == json.end() || !nested->is_object()) return ReadNetwork(json, file_name);
  Json text = *nested;
  // The type of the whole is that of the decoder, or says which decoder it has.
  const auto type = json.find("model_type");
  if (!text.contains("model_type") && type != json.end()) text["model_type"] = *type;
  // Whether embeddings are tied is the one fact about the decoder that stands beside it.
  const auto tied = json.find("tie_word_embeddings");
  if (tied != json.end() && !text.contains("tie_word_embeddings")) {
    text["tie_word_embeddings"] = *tied;
  }
  return ReadNetwork(text, file_name + ": text_config");
}

const std::string& NetworkFamilyName(const NetworkConfig& config) {
  struct Visitor {
    const std::string& operator()(const DecoderConfig& c) const { return c.family; }
    const std::string& operator()(const EncoderConfig& c) const { return c.block.family; }
    const std::string& operator()(const VisionConfig& c) const { return c.block.family; }
    const std::string& operator()(const EncoderDecoderConfig& c) const { return c.block.family; }
  };
  return std::visit(Visitor(), config);
}

Workload BuildNetwork(const NetworkConfig& config, AttentionBackend attention, std::string name) {
  struct Visitor {
    AttentionBackend attention;
    std::string name;
    Workload operator()(const DecoderConfig& c) { return BuildDecoder(c, attention, name); }
    Workload operator()(const EncoderConfig& c) { return BuildEncoder(c, attention, name); }
    Workload operator()(const VisionConfig& c) { return BuildVision(c, attention, name); }
    Workload operator()(const EncoderDecoderConfig& c) {
      return BuildEncoderDecoder(c, attention, name);
    }
  };
  return std::visit(Visitor{attention, std::move(name)}, config);
}

}  // namespace stagecraft
