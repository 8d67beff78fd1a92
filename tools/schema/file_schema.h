// JSON Schemas (draft 2020-12) of files that are protobuf messages, made from their descriptors.
#pragma once

#include <google/protobuf/descriptor.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// Returns the schema of .json and .yaml files with this message: the keys and their types, numbers
// with the ranges of their types, enums with their names. What the readers check beyond that
// (ranges, keys that need each other) is not in it.
nlohmann::ordered_json FileSchema(const std::string& title,
                                  const google::protobuf::Descriptor& message);

// The names of the structured kinds of file, with dashes for blanks: "plan", "layer-states".
std::vector<std::string> FileSchemaNames();
// Returns the schema of one of these kinds. Precondition: FileSchemaNames() has it.
nlohmann::ordered_json FileSchemaOf(const std::string& name);

}  // namespace stagecraft
