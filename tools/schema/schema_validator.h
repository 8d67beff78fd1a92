// Checks JSON against a JSON Schema, for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stagecraft {

// Returns a sentence for each place where `value` is not as the schema wants it: "memory[0]: key
// \"peak\" is missing". Knows the keywords that our schemas have: type, properties, required,
// additionalProperties, items, anyOf, enum, minimum, maximum, pattern and $ref to $defs; any other
// keyword but $schema, title, description and $defs is an error, too.
std::vector<std::string> FindSchemaErrors(const nlohmann::json& value,
                                          const nlohmann::json& schema);

}  // namespace stagecraft
