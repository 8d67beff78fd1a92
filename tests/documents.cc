#include "tests/documents.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <sstream>

namespace stagecraft::documents {
namespace {

constexpr char kFence[] = "```";
constexpr char kGap[] = "…";
constexpr char kPrompt[] = "$ ./stagecraft ";

// The words of a command: "--a 'b c'" has two. A comment at its end is left out.
std::vector<std::string> WordsOf(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool is_open = false;
  for (const char c : command + " ") {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_open = true;
    } else if (c == ' ') {
      if (is_open || !word.empty()) words.push_back(word);
      word.clear();
      is_open = false;
    } else if (c == '#' && word.empty()) {
      break;
    } else {
      word += c;
    }
  }
  return words;
}

std::string WithoutSpacesAtEnd(std::string line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
  return line;
}

// The runs of lines between lines "…". If the first or the last line is "…", the first or the last
// run is empty.
std::vector<Lines> RunsOf(const Lines& shown) {
  std::vector<Lines> runs(1);
  for (const std::string& line : shown) {
    if (line == kGap) {
      runs.emplace_back();
    } else {
      runs.back().push_back(line);
    }
  }
  return runs;
}

std::map<std::string, int> CountWords(const std::string& line) {
  std::istringstream in(line);
  std::map<std::string, int> counts;
  for (std::string word; in >> word;) ++counts[word];
  return counts;
}

// The share of their words that two lines have in common, from 0 to 1.
double Likeness(const std::string& a, const std::string& b) {
  if (a == b) return 1;
  const auto counts = CountWords(a);
  auto others = CountWords(b);
  int common = 0;
  int all = 0;
  for (const auto& [word, count] : counts) {
    all += count;
    common += std::min(count, others[word]);
  }
  int all_others = 0;
  for (const auto& [word, count] : others) all_others += count;
  return common / static_cast<double>(std::max({all, all_others, 1}));
}

double Likeness(const Lines& run, std::span<const std::string> printed) {
  double sum = 0;
  for (size_t i = 0; i < std::min(run.size(), printed.size()); ++i) {
    sum += Likeness(run[i], printed[i]);
  }
  return sum;
}

std::string Missing(const Lines& run, std::span<const std::string> printed) {
  const auto is_there = [&](const std::string& line) {
    return std::find(printed.begin(), printed.end(), line) != printed.end();
  };
  auto line = std::find_if_not(run.begin(), run.end(), is_there);
  if (line == run.end()) return "shown: \"" + run.front() + "\" and what follows; not so printed";
  const auto nearest = std::max_element(
      printed.begin(), printed.end(),
      [&](const auto& a, const auto& b) { return Likeness(*line, a) < Likeness(*line, b); });
  return "shown:   \"" + *line +
         "\"\nprinted: " + (nearest == printed.end() ? "nothing more" : "\"" + *nearest + "\"");
}

}  // namespace

Lines SplitLines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<ShownCommand> CommandsOf(const std::string& document, const std::string& kind) {
  const Lines lines = SplitLines(document);
  std::vector<ShownCommand> commands;
  std::string block;  // the kind of the block that is open
  bool is_open = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with(kFence)) {
      block = is_open ? "" : lines[i].substr(sizeof(kFence) - 1);
      is_open = !is_open;
    } else if (!is_open || block != kind) {
      continue;
    } else if (lines[i].starts_with(kPrompt)) {
      ShownCommand command;
      command.line = static_cast<int>(i) + 1;
      std::string text = lines[i].substr(sizeof(kPrompt) - 1);
      while (text.ends_with("\\") && i + 1 < lines.size()) {
        text.back() = ' ';
        text += lines[++i];
      }
      command.words = WordsOf(text);
      command.first_shown = static_cast<int>(i) + 2;
      commands.push_back(command);
    } else if (!commands.empty()) {
      commands.back().shown.push_back(lines[i]);
    }
  }
  return commands;
}

std::vector<ShownFigures> FiguresOf(const std::string& document) {
  static const std::regex figure(R"( ([0-9.]+) (\S+))");
  std::vector<ShownFigures> rows;
  for (const ShownCommand& command : CommandsOf(document, "figures")) {
    for (size_t i = 0; i < command.shown.size(); ++i) {
      const std::string& text = command.shown[i];
      const size_t flags_end = text.find("   ");
      ShownFigures row;
      row.line = command.first_shown + static_cast<int>(i);
      row.words = command.words;
      if (!row.words.empty() && row.words.back() == kGap) row.words.pop_back();
      for (std::string& word : WordsOf(text.substr(0, flags_end))) row.words.push_back(word);
      if (flags_end == std::string::npos) continue;
      const std::string figures = text.substr(flags_end);
      for (std::sregex_iterator match(figures.begin(), figures.end(), figure), end; match != end;
           ++match) {
        row.figures.push_back({(*match)[1], (*match)[2]});
      }
      rows.push_back(row);
    }
  }
  return rows;
}

std::string WithDigitsOf(const std::string& shown, double value) {
  const size_t point = shown.find('.');
  const int digits = point == std::string::npos ? 0 : static_cast<int>(shown.size() - point - 1);
  std::ostringstream out;
  out.setf(std::ios::fixed);
  out.precision(digits);
  out << value;
  return out.str();
}

Lines WithoutWallTimes(const Lines& lines) {
  static const std::regex seconds(R"(\b(in|after) [0-9.]+ s\b)");
  Lines left;
  bool is_table = false;  // whether the line is in a table whose last column is "seconds"
  for (const std::string& line : lines) {
    std::string text = std::regex_replace(WithoutSpacesAtEnd(line), seconds, "$1 # s");
    if (text.empty()) is_table = false;
    if (is_table) text = WithoutSpacesAtEnd(text.substr(0, text.find_last_of(' ') + 1));
    if (text.ends_with("  seconds")) is_table = true;
    left.push_back(text);
  }
  while (!left.empty() && left.back().empty()) left.pop_back();
  return left;
}

std::string FindDifference(const Lines& shown, const Lines& printed) {
  const std::vector<Lines> runs = RunsOf(WithoutWallTimes(shown));
  const Lines all = WithoutWallTimes(printed);
  auto at = all.begin();
  for (size_t i = 0; i < runs.size(); ++i) {
    const Lines& run = runs[i];
    const bool is_last = i + 1 == runs.size();
    const auto length = static_cast<std::ptrdiff_t>(run.size());
    auto found = std::search(at, all.end(), run.begin(), run.end());
    if (i == 0 && found != at) found = all.end();
    if (is_last && length > 0) {  // no "…" follows, so it must be the last lines
      const bool fits =
          all.end() - at >= length && std::equal(run.begin(), run.end(), all.end() - length);
      found = fits && (i > 0 || all.end() - length == at) ? all.end() - length : all.end();
    }
    if (length > 0 && found == all.end()) return Missing(run, {at, all.end()});
    if (i == 0 && is_last && length == 0 && !all.empty()) {
      return "shown: nothing; printed: \"" + all.front() + "\"";
    }
    at = found + length;
  }
  return "";
}

Lines Renewed(const Lines& shown, const Lines& printed) {
  const std::vector<Lines> runs = RunsOf(shown);
  if (runs.size() == 1) return printed;
  Lines renewed;
  size_t at = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) renewed.push_back(kGap);
    const Lines& run = runs[i];
    if (run.empty()) continue;
    size_t best = at;
    double most = -1;
    const size_t last =
        i == 0 ? at : std::max(at, printed.size() - std::min(printed.size(), run.size()));
    for (size_t from = at; from <= last && from < printed.size(); ++from) {
      const double likeness = Likeness(run, std::span(printed).subspan(from));
      if (likeness > most) {
        most = likeness;
        best = from;
      }
    }
    for (size_t k = 0; k < run.size() && best + k < printed.size(); ++k) {
      renewed.push_back(printed[best + k]);
    }
    at = std::min(printed.size(), best + run.size());
  }
  return renewed;
}

std::vector<Link> LinksOf(const std::string& document) {
  static const std::regex pattern(R"(\]\(([^)#\s]*)(#([^)\s]*))?\))");
  std::vector<Link> links;
  bool is_open = false;
  int number = 0;
  for (const std::string& line : SplitLines(document)) {
    ++number;
    if (line.starts_with(kFence)) is_open = !is_open;
    if (is_open) continue;
    for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end;
         ++match) {
      if ((*match)[1].str().find("://") != std::string::npos) continue;
      links.push_back({number, (*match)[1], (*match)[3]});
    }
  }
  return links;
}

std::vector<std::string> AnchorsOf(const std::string& document) {
  std::vector<std::string> anchors;
  bool is_open = false;
  for (const std::string& line : SplitLines(document)) {
    if (line.starts_with(kFence)) is_open = !is_open;
    if (is_open || !line.starts_with("#")) continue;
    const size_t begin = line.find_first_not_of("# ");
    if (begin == std::string::npos) continue;
    std::string anchor;
    for (const char c : line.substr(begin)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80 || std::isalnum(byte) || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(byte));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    anchors.push_back(anchor);
  }
  return anchors;
}

}  // namespace stagecraft::documents
