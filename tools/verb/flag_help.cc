#include "tools/verb/flag_help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kIndent = 2;
constexpr size_t kTextColumn = 30;
// The most flags that a verb may have for --help to show all of them.
constexpr size_t kMostCommon = 16;

// Appends `words` in lines of kWidth, of which the first has `used` characters already and the
// others begin with `indent` spaces; `line_end` follows every line but the last.
void Wrap(const Args& words, size_t indent, size_t used, const std::string& line_end,
          std::string& out) {
  bool begins = true;
  for (const std::string& word : words) {
    if (!begins && used + 1 + word.size() + line_end.size() > kWidth) {
      out += line_end + "\n" + std::string(indent, ' ');
      used = indent;
      begins = true;
    }
    if (!begins) out += ' ';
    used += word.size() + (begins ? 0 : 1);
    out += word;
    begins = false;
  }
  out += '\n';
}

Args WordsOf(const std::string& text) {
  const std::vector<std::string_view> words = SplitWords(text);
  return Args(words.begin(), words.end());
}

// Appends a term, with what it means to the right of it or, if the term is long, below it.
void PrintTerm(const std::string& term, const std::string& meaning, std::string& out) {
  out += std::string(kIndent, ' ') + term;
  size_t used = kIndent + term.size();
  if (used + 2 > kTextColumn) {
    out += '\n';
    used = 0;
  }
  out += std::string(kTextColumn - used, ' ');
  Wrap(WordsOf(meaning), kTextColumn, kTextColumn, "", out);
}

// The names of a flag with its placeholder: "--[no-]explain", "-o, --output <file>".
std::string Label(const FlagEntry& flag) {
  Args names = flag.names;
  if (!flag.negations.empty()) {
    for (std::string& name : names) name = "--[no-]" + name.substr(2);
  }
  const bool has_value = !flag.is_positional() && !flag.text.value.empty();
  return fmt::format("{}{}{}", fmt::join(names, ", "), has_value ? " " : "",
                     has_value ? flag.text.value : "");
}

std::string Meaning(const FlagEntry& flag) {
  Args limits;
  if (flag.is_required) limits.push_back("required");
  if (!flag.text.range.empty()) limits.push_back(flag.text.range);
  if (!flag.text.usual.empty()) limits.push_back("default: " + flag.text.usual);
  if (limits.empty()) return flag.text.help;
  return fmt::format("{} [{}]", flag.text.help, fmt::join(limits, "; "));
}

// Splits a command line into parts that stay on one line: a flag with its value, words in quotes.
Args ExampleWords(const std::string& line) {
  Args words;
  bool is_quoted = false;
  for (const std::string& word : WordsOf(line)) {
    const bool joins =
        is_quoted || (!words.empty() && !word.starts_with('-') && words.back().starts_with("-") &&
                      words.back().find(' ') == std::string::npos);
    if (joins) {
      words.back() += " " + word;
    } else {
      words.push_back(word);
    }
    is_quoted = is_quoted != (std::count(word.begin(), word.end(), '"') % 2 == 1);
  }
  return words;
}

std::string Usage(const HelpPage& page) {
  std::string usage = "stagecraft " + page.verb;
  if (!page.first_words.empty()) usage += " " + page.first_words;
  for (const FlagEntry& flag : page.flags) {
    if (flag.is_positional()) {
      const std::string word = flag.names[0] + (flag.is_list ? "..." : "");
      usage += flag.is_required ? " " + word : " [" + word + "]";
    }
  }
  for (const FlagEntry& flag : page.flags) {
    if (flag.is_required && !flag.is_positional())
      usage += " " + flag.names[0] + " " + flag.text.value;
  }
  return usage + " [flags]";
}

void PrintFlags(const HelpPage& page, bool shows_all, std::string& out) {
  for (int topic = 0; topic < kFlagTopicCount; ++topic) {
    std::string lines;
    for (const FlagEntry& flag : page.flags) {
      const bool is_shown =
          flag.topic == static_cast<FlagTopic>(topic) && (shows_all || flag.is_common);
      if (is_shown) PrintTerm(Label(flag), Meaning(flag), lines);
    }
    if (!lines.empty())
      out += fmt::format("\n{}:\n{}", Title(static_cast<FlagTopic>(topic)), lines);
  }
}

void PrintNotes(const HelpPage& page, std::string& out) {
  for (const HelpNote& note : page.notes) {
    if (!note.term.empty()) {
      PrintTerm(note.term, note.text, out);
      continue;
    }
    out += '\n';
    Wrap(WordsOf(note.text), 0, 0, "", out);
  }
}

}  // namespace

const char* Title(FlagTopic topic) {
  constexpr const char* kTitles[kFlagTopicCount] = {"Input",
                                                    "Network and batch",
                                                    "Cluster",
                                                    "Parallelism",
                                                    "Pipeline schedule",
                                                    "Memory and precision",
                                                    "Communication and overlap",
                                                    "Cost model",
                                                    "Days, energy and money",
                                                    "Search",
                                                    "Options of single planners",
                                                    "Learned policy",
                                                    "A run over time",
                                                    "Measurement",
                                                    "Output"};
  return kTitles[static_cast<int>(topic)];
}

bool HasShortHelp(const HelpPage& page) { return page.flags.size() > kMostCommon; }

std::string HelpText(const HelpPage& page, bool shows_all) {
  std::string out;
  Wrap(WordsOf(page.purpose), 0, 0, "", out);
  out += "\nUsage: ";
  Wrap(WordsOf(Usage(page)), 4, 7, "", out);
  out += "\nExamples:\n";
  for (const std::string& example : page.examples) {
    out += std::string(kIndent, ' ');
    Wrap(ExampleWords("stagecraft " + example), 6, kIndent, " \\", out);
  }
  const size_t common = std::count_if(page.flags.begin(), page.flags.end(),
                                      [](const FlagEntry& flag) { return flag.is_common; });
  const bool is_short = !shows_all && HasShortHelp(page);
  PrintFlags(page, !is_short, out);
  if (is_short) {
    out += fmt::format("\nstagecraft {} --help-all lists {} more flags.\n", page.verb,
                       page.flags.size() - common);
  }
  PrintNotes(page, out);
  return out;
}

}  // namespace stagecraft
