#include "tools/schema/schema_validator.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <set>

namespace stagecraft {
namespace {

using Json = nlohmann::json;

bool HasType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void Check(const Json& value, const Json& schema, const std::string& place) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) Add(place, "is not wanted");
      return;
    }
    CheckKeywords(schema, place);
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(8);  // "#/$defs/"
      Check(value, root_.at("$defs").at(name), place);
    }
    if (schema.contains("type")) CheckType(value, schema["type"], place);
    if (schema.contains("enum")) CheckEnum(value, schema["enum"], place);
    if (schema.contains("anyOf")) CheckAnyOf(value, schema["anyOf"], place);
    if (value.is_number()) CheckRange(value, schema, place);
    if (value.is_string() && schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(),
                           std::regex(schema["pattern"].get<std::string>()))) {
      Add(place, "does not match " + schema["pattern"].dump());
    }
    if (value.is_array() && schema.contains("items")) {
      for (size_t i = 0; i < value.size(); ++i) {
        Check(value[i], schema["items"], fmt::format("{}[{}]", place, i));
      }
    }
    if (value.is_object()) CheckObject(value, schema, place);
  }

  std::vector<std::string> errors;

 private:
  void Add(const std::string& place, const std::string& what) {
    errors.push_back((place.empty() ? "the whole" : place) + ": " + what);
  }

  void CheckKeywords(const Json& schema, const std::string& place) {
    static const std::set<std::string> known = {
        "$schema", "title", "description", "$defs",    "$ref",
        "type",    "enum",  "properties",  "required", "additionalProperties",
        "items",   "anyOf", "minimum",     "maximum",  "pattern"};
    for (const auto& [key, inside] : schema.items()) {
      if (!known.contains(key)) Add(place, "unknown keyword " + key);
    }
  }

  void CheckType(const Json& value, const Json& type, const std::string& place) {
    const Json types = type.is_array() ? type : Json::array({type});
    if (std::any_of(types.begin(), types.end(),
                    [&](const Json& one) { return HasType(value, one.get<std::string>()); })) {
      return;
    }
    Add(place, fmt::format("got {}, want {}", value.dump().substr(0, 40), type.dump()));
  }

  void CheckEnum(const Json& value, const Json& names, const std::string& place) {
    if (std::find(names.begin(), names.end(), value) == names.end()) {
      Add(place, fmt::format("got {}, want one of {}", value.dump(), names.dump()));
    }
  }

  void CheckAnyOf(const Json& value, const Json& choices, const std::string& place) {
    std::string first;
    for (const Json& choice : choices) {
      Validator one(root_);
      one.Check(value, choice, place);
      if (one.errors.empty()) return;
      if (first.empty()) first = one.errors[0];
    }
    Add(place, "fits none of several choices; the first: " + first);
  }

  void CheckRange(const Json& value, const Json& schema, const std::string& place) {
    if (schema.contains("minimum") && value < schema["minimum"]) Add(place, "is too small");
    if (schema.contains("maximum") && value > schema["maximum"]) Add(place, "is too large");
  }

  void CheckObject(const Json& value, const Json& schema, const std::string& place) {
    const Json properties = schema.value("properties", Json::object());
    for (const Json& key : schema.value("required", Json::array())) {
      if (!value.contains(key.get<std::string>())) Add(place, "key " + key.dump() + " is missing");
    }
    for (const auto& [key, inside] : value.items()) {
      const std::string name = place.empty() ? key : place + "." + key;
      if (properties.contains(key)) {
        Check(inside, properties[key], name);
      } else if (schema.contains("additionalProperties")) {
        Check(inside, schema["additionalProperties"], name);
      }
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> FindSchemaErrors(const nlohmann::json& value,
                                          const nlohmann::json& schema) {
  Validator validator(schema);
  validator.Check(value, schema, "");
  return validator.errors;
}

}  // namespace stagecraft
