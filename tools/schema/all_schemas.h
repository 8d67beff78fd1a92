// All JSON Schemas of docs/schema.
#pragma once

#include <map>
#include <string>

namespace stagecraft {

// Returns the text of each schema by its name: "plan", ... for kinds of file, "search-output", ...
// for what verbs print with --json. `descriptions` is the folder tools/schema/outputs. Throws
// InputError for descriptions that cannot be read.
std::map<std::string, std::string> AllSchemas(const std::string& descriptions);

}  // namespace stagecraft
