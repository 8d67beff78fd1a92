// SchemaDocument(): a JSON Schema as a file of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stagecraft {

// Returns `schema` with the dialect that it is written in (draft 2020-12), a title, and the schemas
// to which it refers as "#/$defs/NAME".
nlohmann::ordered_json SchemaDocument(const std::string& title,
                                      const nlohmann::ordered_json& schema,
                                      const nlohmann::ordered_json& definitions);

}  // namespace stagecraft
