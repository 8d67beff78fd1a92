// Fills a protobuf message from JSON, naming the key path in every error.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Parses strict JSON. Throws InputError for syntax errors, with line and column, and for keys that
// occur twice. `name` opens every error.
nlohmann::json ParseJson(const std::string& text, const std::string& name);

// Parses one YAML document to JSON; plain scalars become numbers, booleans and null as in YAML's
// core schema, except that .inf and .nan stay text. Throws InputError for syntax errors, keys that
// occur twice, and documents that expand without end.
nlohmann::json ParseYaml(const std::string& text, const std::string& name);

// Fills `message` from `value`. Where it has a google.protobuf.Value or Struct, any value is taken
// as it is. Throws InputError for unknown keys, wrong types and numbers out of range.
void JsonToProto(const nlohmann::json& value, const std::string& name,
                 google::protobuf::Message* message);

}  // namespace stagecraft
