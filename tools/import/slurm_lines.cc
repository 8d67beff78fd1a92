#include "tools/import/slurm_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\t' ||
           (static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 127);
  });
}

// Returns the value at the beginning of the line, in quotes or up to a blank, and removes it.
std::string_view TakeValue(std::string_view* line, const std::string& place) {
  const bool is_quoted = line->starts_with('"');
  if (is_quoted) line->remove_prefix(1);
  const size_t end = line->find_first_of(is_quoted ? "\"" : " \t");
  if (is_quoted && end == line->npos) {
    throw InputError(place + "got a quote before " + Quoted(*line) + ", want a closing one");
  }
  const std::string_view value = line->substr(0, end);
  line->remove_prefix(value.size() + (is_quoted ? 1 : 0));
  return value;
}

void ParseWords(std::string_view line, SlurmLine* parsed) {
  while (!(line = Trimmed(line)).empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    const size_t equals = word.find('=');
    if (LowerCase(word) == "include") {
      throw InputError(parsed->place +
                       "got Include, want the lines of that file in its place: no " +
                       "other file is read");
    }
    if (equals == word.npos || equals == 0) {
      throw InputError(parsed->place + "got " + Quoted(word) + ", want Key=Value");
    }
    const std::string key = LowerCase(word.substr(0, equals));
    line.remove_prefix(equals + 1);
    const std::string_view value = TakeValue(&line, parsed->place + key + ": ");
    if (!IsPlain(key) || !IsPlain(value)) {
      throw InputError(parsed->place + "got " + Quoted(word) + ", want plain text");
    }
    if (parsed->keys.empty()) parsed->first_key = key;
    if (!parsed->keys.emplace(key, value).second) {
      throw InputError(parsed->place + "got " + Quoted(key) + " again, want each key once");
    }
  }
}

}  // namespace

std::string SlurmLine::Value(const std::string& key) const {
  const auto found = keys.find(key);
  return found == keys.end() ? "" : found->second;
}

std::string LowerCase(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

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
