#include "tools/schema/schema_document.h"

#include <nlohmann/json.hpp>

namespace stagecraft {

nlohmann::ordered_json SchemaDocument(const std::string& title,
                                      const nlohmann::ordered_json& schema,
                                      const nlohmann::ordered_json& definitions) {
  nlohmann::ordered_json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                     {"title", title}};
  document.update(schema);
  if (!definitions.empty()) document["$defs"] = definitions;
  return document;
}

}  // namespace stagecraft
