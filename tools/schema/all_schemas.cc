#include "tools/schema/all_schemas.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "costmodel/proto_file.h"
#include "tools/schema/file_schema.h"
#include "tools/schema/output_schema.h"

namespace stagecraft {

std::map<std::string, std::string> AllSchemas(const std::string& descriptions) {
  std::map<std::string, std::string> schemas;
  for (const std::string& name : FileSchemaNames()) {
    schemas[name] = FileSchemaOf(name).dump(1) + '\n';
  }
  const std::string shared = ReadFile(descriptions + "/shared.yaml");
  for (const auto& entry : std::filesystem::directory_iterator(descriptions)) {
    const std::string verb = entry.path().stem().string();
    if (entry.path().extension() != ".yaml" || verb == "shared") continue;
    schemas[verb + "-output"] =
        OutputSchema("stagecraft " + verb + " --json", ReadFile(entry.path().string()), shared,
                     entry.path().filename().string())
            .dump(1) +
        '\n';
  }
  return schemas;
}

}  // namespace stagecraft
