// Lines of Slurm's configuration files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stagecraft {

struct SlurmLine {
  std::string place;                        // "topology.conf: line 3: "
  std::string first_key;                    // in lower case
  std::map<std::string, std::string> keys;  // in lower case
};

// Lines of "Key=Value Key=Value": comments go, a backslash joins lines. Throws
// InputError for words without '=' and keys given twice in a line.
std::vector<SlurmLine> ParseSlurmLines(const std::string& text, const std::string& name);

}  // namespace stagecraft
