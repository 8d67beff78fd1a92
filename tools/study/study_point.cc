#include "tools/study/study_point.h"

#include "tools/verb/shell_quoting.h"

namespace stagecraft {

Args WordsOf(const StudyPoint& point) {
  Args words;
  words.reserve(point.flags.size());
  for (const auto& [name, value] : point.flags) {
    std::string& word = words.emplace_back("--");
    word.append(name).append("=").append(value);
  }
  return words;
}

std::string CommandLineOf(const std::string& verb, const StudyPoint& point) {
  std::string line = "stagecraft " + verb;
  for (const auto& [name, value] : point.flags) {
    const bool is_switch = value == "true" || value == "false";
    if (is_switch) {
      line += " --" + name + (value == "true" ? "" : "=false");
    } else {
      line += " --" + name + " " + ShellQuotedIfNeeded(value);
    }
  }
  return line;
}

}  // namespace stagecraft
