#include "tools/import/slurm_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "costmodel/check.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

void ParseWords(std::string_view line, SlurmLine* parsed) {
  while (!(line = Trimmed(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    const size_t equals = word.find('=');
    const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
      return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 127;
    });
    if (!is_plain || equals == word.npos || equals == 0) {
      throw InputError(parsed->place + "got " + Quoted(word) + ", want Key=Value");
    }
    const std::string key = LowerCase(word.substr(0, equals));
    if (parsed->keys.empty()) parsed->first_key = key;
    if (!parsed->keys.emplace(key, word.substr(equals + 1)).second) {
      throw InputError(parsed->place + "got " + Quoted(key) + " again, want each key once");
    }
  }
}

}  // namespace

std::vector<SlurmLine> ParseSlurmLines(const std::string& text, const std::string& name) {
  std::vector<SlurmLine> lines;
  std::string joined;
  const std::vector<std::string_view> raw = SplitLines(text);
  for (size_t i = 0; i < raw.size(); ++i) {
    std::string_view line = raw[i].substr(0, raw[i].find('#'));
    line = Trimmed(line);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    joined += line;
    joined += ' ';
    if (goes_on && i + 1 < raw.size()) continue;
    SlurmLine parsed;
    parsed.place = AtLine(name, i);
    ParseWords(joined, &parsed);
    if (!parsed.keys.empty()) lines.push_back(std::move(parsed));
    joined.clear();
  }
  return lines;
}

}  // namespace stagecraft
