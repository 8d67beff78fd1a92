// Lines of Slurm's configuration files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

struct SlurmLine {
  std::string place;                        // "topology.conf: line 3: "
  std::string first_key;                    // in lower case
  std::map<std::string, std::string> keys;  // in lower case

  std::string Value(const std::string& key) const;  // empty where there is none
};

std::string LowerCase(std::string_view text);

// Reads lines of "Key=Value Key="Some value"": comments are dropped, a backslash joins lines.
// Throws InputError for words without '=', quotes that are not closed, keys given twice in a line,
// and Include, since no other file is read.
std::vector<SlurmLine> ParseSlurmLines(const std::string& text, const std::string& name);

}  // namespace stagecraft
