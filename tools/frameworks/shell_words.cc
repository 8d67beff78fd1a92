// ShellReader: commands, assignments, branches and redirections. shell_expansion.cc has the words.
#include "tools/frameworks/shell_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr size_t kMostWords = 100000;  // of an array

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Commands whose words may be assignments.
bool Declares(const std::vector<ShellWord>& words) {
  return !words.empty() && std::all_of(words.begin() + 1, words.end(), [](const ShellWord& word) {
    return word.text.starts_with('-');
  }) && IsOneOf(words[0].text, {"export", "declare", "local", "readonly", "typeset", "set"});
}

}  // namespace

ShellReader::ShellReader(std::string_view text, std::string name, const ShellVariables& given,
                         int line)
    : text_(text), name_(std::move(name)), line_(line) {
  for (const auto& [variable, value] : given) variables_[variable] = {{{value, 0, ""}}, false};
}

char ShellReader::Take() {
  const char taken = text_[at_++];
  if (taken == '\n') ++line_;
  return taken;
}

void ShellReader::Fail(int line, const std::string& problem) const {
  throw InputError(fmt::format("{}: line {}: {}", name_, line, problem));
}

void ShellReader::SkipBlanks() {
  while (!AtEnd()) {
    if (Peek() == '\\' && Peek(1) == '\n') {
      Take();
      Take();
    } else if (Peek() == '\\' && Peek(1) == '\r' && Peek(2) == '\n') {
      for (int i = 0; i < 3; ++i) Take();
    } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\r') {
      Take();
    } else if (Peek() == '#') {
      while (!AtEnd() && Peek() != '\n') Take();
    } else {
      return;
    }
  }
}

void ShellReader::SkipLinesOfDocument() {
  for (const std::string& end : std::exchange(documents_, {})) {
    while (!AtEnd()) {
      const size_t length = text_.substr(at_).find('\n');
      std::string_view one = text_.substr(at_, length);
      at_ += length == std::string_view::npos ? one.size() : length + 1;
      ++line_;
      while (!one.empty() && (one[0] == '\t' || one[0] == ' ')) one.remove_prefix(1);
      if (one.ends_with('\r')) one.remove_suffix(1);
      if (one == end) break;
    }
  }
}

bool ShellReader::TakeRedirection() {
  size_t digits = 0;
  while (std::isdigit(static_cast<unsigned char>(Peek(digits)))) ++digits;
  if (Peek(digits) == '&' && Peek(digits + 1) == '>') ++digits;
  if (Peek(digits) != '>' && Peek(digits) != '<') return false;
  for (size_t i = 0; i < digits; ++i) Take();
  const bool is_document = Peek() == '<' && Peek(1) == '<' && Peek(2) != '<';
  while (Peek() == '<' || Peek() == '>' || Peek() == '&' || (is_document && Peek() == '-')) Take();
  if (Peek() == '(') {  // <(command)
    Take();
    TakeUntilClosed('(', ')', line_);
    return true;
  }
  SkipBlanks();
  const std::vector<ShellWord> target = TakeWord(/*splits=*/false);
  if (is_document && !target.empty()) documents_.push_back(target[0].text);
  return true;
}

bool ShellReader::TakeSeparator() {
  const char first = Peek();
  if (first != '\n' && first != ';' && first != '&' && first != '|' && first != '(' &&
      first != ')') {
    return false;
  }
  Take();
  const bool is_double = (first == '&' || first == '|' || first == ';') && Peek() == first;
  if (is_double) Take();
  if (first == '|' && Peek() == '&') Take();
  is_after_test_ = is_double && first != ';';
  if (first == '\n') SkipLinesOfDocument();
  return true;
}

bool ShellReader::TakeKeyword(const std::vector<ShellWord>& words) {
  if (words.size() != 1) return false;
  const std::string& word = words[0].text;
  if (IsOneOf(word, {"if", "for", "while", "until", "case", "select", "function"})) {
    if (word != "function") ++depth_;
    // What stands in their heads up to the line's end is no command that starts anything, except
    // after if and while, whose commands only test.
    return true;
  }
  if (IsOneOf(word, {"fi", "done", "esac"})) {
    if (depth_ == 0) Fail(words[0].line, fmt::format("got {} without its beginning", word));
    --depth_;
    return true;
  }
  return IsOneOf(word, {"then", "else", "elif", "do", "{", "}", "!", "time"});
}

std::vector<ShellWord> ShellReader::TakeArray() {
  const int line = line_;
  Take();  // (
  std::vector<ShellWord> words;
  while (true) {
    SkipBlanks();
    if (AtEnd()) Fail(line, "got ( without ), want both");
    if (Peek() == '\n') {
      Take();
    } else if (Peek() == ')') {
      Take();
      return words;
    } else if (std::string_view(";&|<>(").find(Peek()) != std::string_view::npos) {
      Fail(line_, fmt::format("got {} among the words of an array, want it in quotes", Peek()));
    } else {
      for (ShellWord& word : TakeWord(/*splits=*/true)) words.push_back(std::move(word));
    }
    if (words.size() > kMostWords) Fail(line, "got an array of more than 100,000 words");
  }
}

bool ShellReader::TakeAssignment() {
  size_t end = 0;
  if (!IsNameStart(Peek())) return false;
  while (IsNamePart(Peek(end))) ++end;
  const bool appends = Peek(end) == '+' && Peek(end + 1) == '=';
  if (!appends && Peek(end) != '=') return false;
  const std::string name(text_.substr(at_, end));
  at_ += end + (appends ? 2 : 1);
  if (Peek() == '(') {
    Set(name, {TakeArray(), true}, appends);
    return true;
  }
  std::vector<ShellWord> value = TakeWord(/*splits=*/false);
  if (value.empty()) value.push_back({"", line_, ""});
  Set(name, {std::move(value), false}, appends);
  return true;
}

void ShellReader::Set(const std::string& name, ShellValue value, bool appends) {
  if (depth_ > 0 || is_after_test_) {
    const std::string why = fmt::format("${} (set under a condition in line {})", name, line_);
    value.words = {Unknown(why)};
    variables_[name] = std::move(value);
    return;
  }
  if (!appends) {
    variables_[name] = std::move(value);
    return;
  }
  ShellValue& variable = variables_[name];
  if (value.is_array || variable.is_array) {
    variable.is_array = true;
    variable.words.insert(variable.words.end(), value.words.begin(), value.words.end());
    if (variable.words.size() > kMostWords) {
      Fail(line_, "got an array of more than 100,000 words");
    }
    return;
  }
  if (variable.words.empty()) variable.words.push_back({"", line_, ""});
  variable.words[0].text += value.words[0].text;
  if (variable.words[0].text.size() > static_cast<size_t>(kMostScriptBytes)) {
    Fail(line_, "got a variable of more than a megabyte");
  }
  if (variable.words[0].unset.empty()) variable.words[0].unset = value.words[0].unset;
}

std::optional<std::vector<ShellWord>> ShellReader::Next() {
  std::vector<ShellWord> words;
  bool may_assign = true;
  while (true) {
    SkipBlanks();
    if (AtEnd()) break;
    if (TakeRedirection()) continue;
    if (TakeSeparator()) {
      if (!words.empty()) return words;
      may_assign = true;
      continue;
    }
    if (may_assign && TakeAssignment()) continue;
    for (ShellWord& word : TakeWord(/*splits=*/true)) words.push_back(std::move(word));
    if (TakeKeyword(words)) words.clear();
    may_assign = words.empty() || Declares(words);
  }
  if (depth_ > 0) Fail(line_, "got the end of the script in a branch or loop, want its end");
  if (words.empty()) return std::nullopt;
  return words;
}

}  // namespace stagecraft
