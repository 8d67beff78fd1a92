// SlurmLine: a line of Slurm's configuration files, and the reader of them.
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

  std::string Value(const std::string& key) const;  // empty if the line lacks the key
};

std::string LowerCase(std::string_view text);

// Reads lines like `Key=Value Key="Some value"`. Comments are dropped, and a backslash at the end
// of a line joins it with the next. Throws InputError for words without '=', quotes that are not
// closed, keys given twice in a line, and Include, since no other file is read.
std::vector<SlurmLine> ParseSlurmLines(const std::string& text, const std::string& name);

}  // namespace stagecraft
