#include "tools/schema/output_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/text.h"
#include "tools/schema/schema_document.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

class Expander {
 public:
  Expander(const nlohmann::json& shared, std::string place)
      : shared_(shared), place_(std::move(place)) {}

  Json Part(const nlohmann::json& part) {
    if (part.is_string()) return Text(part.get<std::string>());
    if (part.is_array()) return List(part);
    if (part.is_object()) return Object(part);
    Fail(part.dump(), "a type, a list or a map");
  }

  // The shared parts that were named, and those that they name.
  Json Definitions() {
    Json definitions = Json::object();
    while (definitions.size() < named_.size()) {
      for (const std::string& name : std::set<std::string>(named_)) {
        if (!definitions.contains(name)) definitions[name] = Part(shared_.at(name));
      }
    }
    return definitions;
  }

 private:
  [[noreturn]] void Fail(const std::string& got, const std::string& want) const {
    throw InputError(place_ + ": got " + got + ", want " + want);
  }

  // "number|null; what it means", "$plan".
  Json Text(const std::string& text) {
    const size_t semicolon = text.find(';');
    const std::string types(Trimmed(std::string_view(text).substr(0, semicolon)));
    Json schema;
    if (types.starts_with('$')) {
      const std::string name = types.substr(1);
      if (!shared_.contains(name)) Fail("$" + name, "a part of shared.yaml");
      named_.insert(name);
      schema["$ref"] = "#/$defs/" + name;
    } else {
      schema["type"] = Types(types);
    }
    if (semicolon != std::string::npos) {
      schema["description"] = Trimmed(std::string_view(text).substr(semicolon + 1));
    }
    return schema;
  }

  Json Types(const std::string& types) {
    Json list = Json::array();
    for (const std::string_view type : SplitAt(types, '|')) {
      const std::string_view known[] = {"number", "integer", "string", "boolean", "null"};
      if (std::find(std::begin(known), std::end(known), type) == std::end(known)) {
        Fail("\"" + types + "\"", "number, integer, string, boolean or null, separated by |");
      }
      list.push_back(type);
    }
    return list.size() == 1 ? list[0] : list;
  }

  Json List(const nlohmann::json& part) {
    if (part.size() != 1) Fail("a list of " + std::to_string(part.size()), "one part in it");
    return {{"type", "array"}, {"items", Part(part[0])}};
  }

  Json Object(const nlohmann::json& part) {
    if (part.size() == 1 && part.contains("$or")) {
      Json choices = Json::array();
      for (const nlohmann::json& one : part["$or"]) choices.push_back(Part(one));
      return {{"anyOf", std::move(choices)}};
    }
    Json properties = Json::object(), required = Json::array(), others = false;
    for (const auto& [key, value] : part.items()) {
      if (key == "*") {
        others = Part(value);
        continue;
      }
      const bool is_optional = key.ends_with('~');
      const std::string name = is_optional ? key.substr(0, key.size() - 1) : key;
      properties[name] = Part(value);
      if (!is_optional) required.push_back(name);
    }
    Json schema = {{"type", "object"}};
    if (!properties.empty()) schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = std::move(others);
    return schema;
  }

  const nlohmann::json& shared_;
  const std::string place_;
  std::set<std::string> named_;
};

}  // namespace

nlohmann::ordered_json OutputSchema(const std::string& title, const std::string& description,
                                    const std::string& shared, const std::string& place) {
  const nlohmann::json parts = ParseYaml(shared, "shared.yaml");
  nlohmann::json keys = ParseYaml(description, place);
  // What every report begins with (report_header.h).
  for (const auto& [key, value] : parts.at("header").items()) keys[key] = value;
  Expander expander(parts, place);
  const Json schema = expander.Part(keys);
  return SchemaDocument(title, schema, expander.Definitions());
}

}  // namespace stagecraft
