#include "tools/study/study_point.h"

#include <algorithm>
#include <cctype>

namespace stagecraft {
namespace {

bool IsPlain(char c) {
  constexpr const char* kPlain = "-_./,:=+@%";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         (c != '\0' && std::string(kPlain).find(c) != std::string::npos);
}

std::string ShellWord(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

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
      line += " --" + name + " " + ShellWord(value);
    }
  }
  return line;
}

}  // namespace stagecraft
