#include "sim/hf_config.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "sim/hf_config_keys.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;
using namespace hf_config_keys;

template <typename Table, typename Text>
std::string Join(const Table& table, Text text, const char* separator) {
  std::string joined;
  for (const auto& row : table) {
    const char* item = text(row);
    if (item != nullptr) joined += (joined.empty() ? "" : separator) + std::string(item);
  }
  return joined;
}

std::string ModelTypes() {
  return Join(
      kFamilies, [](const Family& family) { return family.model_type; }, ", ");
}

// The value as a user wrote it, cut where it would fill the screen.
std::string Shown(const Json& value) {
  constexpr size_t kLongest = 60;
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

class Reader {
 public:
  Reader(const Json& json, const std::string& file) : json_(json), file_(file) {}

  DecoderConfig Read() {
    const Family* family = FindFamily();
    DecoderConfig config;
    if (family != nullptr) config = DecoderOfFamily(family->decoder);
    for (const SizeField& field : kSizes) ReadSize(field, family, config);
    if (!missing_.empty()) throw InputError(file_ + ": missing keys: " + missing_);
    ReadSwitches(config);
    ReadDropouts(config);
    ReadActivation(config);
    ReadRotary(config);
    for (const char* key : kRefused) Refuse(key);
    config = Completed(config);
    const std::vector<std::string> errors = FindErrors(config);
    if (!errors.empty()) Fail(InKeysOfTheFile(errors.front()));
    return config;
  }

 private:
  [[noreturn]] void Fail(const std::string& sentence) const {
    throw InputError(file_ + ": " + sentence);
  }
  [[noreturn]] void Fail(const char* key, const Json& value, const std::string& wanted) const {
    Fail(std::string(key) + ": got " + Shown(value) + ", want " + wanted);
  }
  // Null counts as absent, as it does in Hugging Face's own reader.
  const Json* Find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  void AddMissing(const std::string& spellings) {
    missing_ += (missing_.empty() ? "" : "; ") + spellings;
  }

  const Family* FindFamily() {
    if (const Json* type = Find("model_type")) {
      for (const Family& family : kFamilies) {
        if (*type == family.model_type) return &family;
      }
      Fail("model_type", *type, "one of " + ModelTypes());
    }
    if (const Json* classes = Find("architectures")) {
      for (const Family& family : kFamilies) {
        if (classes->is_array() && !classes->empty() && classes->front() == family.architecture) {
          return &family;
        }
      }
      Fail("architectures", *classes,
           "one of " + Join(
                           kFamilies, [](const Family& f) { return f.architecture; }, ", "));
    }
    AddMissing("model_type (one of " + ModelTypes() + ")");
    return nullptr;
  }

  int64_t Integer(const char* key, const Json& value) const {
    const std::string wanted = "a whole number from 1 to " + std::to_string(kMaxSize);
    if (!value.is_number_integer()) Fail(key, value, wanted);
    if (value.is_number_unsigned()) {
      const uint64_t number = value.get<uint64_t>();
      if (number < 1 || number > static_cast<uint64_t>(kMaxSize)) Fail(key, value, wanted);
      return static_cast<int64_t>(number);
    }
    const int64_t number = value.get<int64_t>();
    if (number < 1 || number > kMaxSize) Fail(key, value, wanted);
    return number;
  }

  void ReadSize(const SizeField& field, const Family* family, DecoderConfig& config) {
    const char* used = nullptr;
    for (const char* key : field.spellings) {
      const Json* value = key == nullptr ? nullptr : Find(key);
      if (value == nullptr) continue;
      const int64_t number = Integer(key, *value);
      if (used != nullptr && number != config.*field.member) {
        Fail(key, *value,
             "the " + std::to_string(config.*field.member) + " that " + used + " says");
      }
      if (used == nullptr) used = key;
      config.*field.member = number;
    }
    if (used != nullptr) {
      used_[field.name] = used;
      return;
    }
    if (field.need == Need::kAlways ||
        (field.need == Need::kByFamily && family != nullptr && family->needs_ffn)) {
      AddMissing(Join(
          field.spellings, [](const char* key) { return key; }, " | "));
    }
  }

  void ReadSwitches(DecoderConfig& config) const {
    for (const SwitchField& field : kSwitches) {
      const Json* value = Find(field.key);
      if (value == nullptr) continue;
      if (!value->is_boolean()) Fail(field.key, *value, "true or false");
      for (const auto member : field.members) {
        if (member != nullptr) config.*member = value->get<bool>();
      }
    }
  }

  double Fraction(const char* key, const Json& value) const {
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!(number >= 0 && number <= 1)) Fail(key, value, "a number from 0 to 1");
    return number;
  }

  void ReadDropouts(DecoderConfig& config) const {
    for (const DropoutField& field : kDropouts) {
      bool given = false;
      bool drops = false;
      for (const char* key : field.keys) {
        const Json* value = key == nullptr ? nullptr : Find(key);
        if (value == nullptr) continue;
        given = true;
        drops |= Fraction(key, *value) > 0;
      }
      if (given) config.*field.member = drops;
    }
  }

  void ReadActivation(DecoderConfig& config) const {
    for (const char* key : {"hidden_act", "activation_function"}) {
      const Json* value = Find(key);
      if (value == nullptr) continue;
      bool known = false;
      for (const ActivationName& row : kActivations) {
        if (*value != row.name) continue;
        config.activation = row.activation;
        known = true;
      }
      if (!known) {
        Fail(key, *value,
             "one of " + Join(
                             kActivations, [](const ActivationName& a) { return a.name; }, ", "));
      }
    }
  }

  void ReadRotary(DecoderConfig& config) const {
    for (const char* key : {"rotary_pct", "partial_rotary_factor"}) {
      const Json* value = Find(key);
      if (value != nullptr) config.rotary_fraction = Fraction(key, *value);
    }
  }

  void Refuse(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr) return;
    const bool plain =
        value->is_boolean() ? !value->get<bool>() : value->is_number() && value->get<double>() <= 1;
    if (!plain) Fail(key, *value, "a plain decoder without it");
  }

  // FindErrors speaks of "hidden:"; the user wrote "n_embd".
  std::string InKeysOfTheFile(const std::string& sentence) const {
    const auto key = used_.find(sentence.substr(0, sentence.find(':')));
    if (key == used_.end()) return sentence;
    return key->second + sentence.substr(sentence.find(':'));
  }

  const Json& json_;
  const std::string& file_;
  std::string missing_;
  std::map<std::string, std::string> used_;  // field -> key it was read from
};

Json ParseObject(const std::string& text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InputError(file + ": byte " + std::to_string(error.byte) +
                     ": got text that is not JSON or ends early, want one JSON object");
  } catch (const Json::exception&) {
    throw InputError(file + ": got a number too large to hold, want one JSON object");
  }
  if (!json.is_object()) {
    throw InputError(file + ": got " + Shown(json) + ", want one JSON object");
  }
  return json;
}

}  // namespace

DecoderConfig ParseHuggingFaceConfig(const std::string& json_text, const std::string& file_name) {
  const Json json = ParseObject(json_text, file_name);
  const auto nested = json.find("text_config");
  if (nested == json.end() || !nested->is_object()) return Reader(json, file_name).Read();
  Json text = *nested;
  // The tie is the one fact about the decoder that is kept beside it.
  const auto tied = json.find("tie_word_embeddings");
  if (tied != json.end() && !text.contains("tie_word_embeddings")) {
    text["tie_word_embeddings"] = *tied;
  }
  const std::string place = file_name + ": text_config";
  return Reader(text, place).Read();
}

}  // namespace stagecraft
