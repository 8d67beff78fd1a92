// The files that values of flags name.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Returns the files that the value of a flag names by itself or in a list separated by commas; of a
// folder its config.json. An empty value names none.
std::vector<std::string> FilesNamedBy(const std::string& value);

}  // namespace stagecraft
