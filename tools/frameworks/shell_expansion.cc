// ShellReader: words, quotes and what stands for something else in them.
#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/frameworks/shell_arithmetic.h"
#include "tools/frameworks/shell_words.h"

namespace stagecraft {
namespace {

constexpr int kMostNesting = 16;            // of defaults in defaults
constexpr size_t kMostWordBytes = 1 << 20;  // after expansion

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
// Without [@] an array stands for its first word.
ShellValue FirstOf(ShellValue value) {
  if (value.words.size() > 1) value.words.resize(1);
  return value;
}

bool EndsWord(char c) {
  return std::string_view(" \t\r\n;&|<>()").find(c) != std::string_view::npos;
}

}  // namespace

// Returns the words into which the one at which the reader stands expands. Without `splits` it is
// at most one.
std::vector<ShellWord> ShellReader::TakeWord(bool splits) {
  Growing word;
  word.current.line = line_;
  while (!AtEnd() && !EndsWord(Peek())) {
    if (Peek() == '\\') {
      Take();
      if (AtEnd()) break;
      const char escaped = Take();
      if (escaped == '\n') continue;
      word.current.text += escaped;
      word.has_current = true;
    } else if (Peek() == '\'' || Peek() == '"') {
      TakeQuoted(word);
    } else if (Peek() == '$') {
      TakeDollar(word, /*is_quoted=*/false, splits);
    } else if (Peek() == '`') {
      Take();
      const std::string inside = TakeUntilClosed('`', '`', line_);
      Append(word, Unknown("`" + inside + "`"), splits);
    } else {
      word.current.text += Take();
      word.has_current = true;
    }
  }
  if (word.has_current || word.is_quoted) word.done.push_back(std::move(word.current));
  return std::move(word.done);
}

void ShellReader::TakeQuoted(Growing& word) {
  const int line = line_;
  const char quote = Take();
  word.is_quoted = word.has_current = true;
  while (true) {
    if (AtEnd()) Fail(line, fmt::format("got {} without a second one, want both", quote));
    if (Peek() == quote) break;
    if (quote == '"' && Peek() == '$') {
      TakeDollar(word, /*is_quoted=*/true, /*splits=*/false);
    } else if (quote == '"' && Peek() == '`') {
      Take();
      Append(word, Unknown("`" + TakeUntilClosed('`', '`', line) + "`"), false);
    } else if (quote == '"' && Peek() == '\\' &&
               std::string_view("\"\\$`\n").find(Peek(1)) != std::string_view::npos) {
      Take();
      const char escaped = Take();
      if (escaped != '\n') word.current.text += escaped;
    } else {
      word.current.text += Take();
    }
  }
  Take();
}

// Returns what stands before the closing bracket, which is taken, too. Brackets in quotes count as
// all others do.
std::string ShellReader::TakeUntilClosed(char open, char close, int line) {
  std::string inside;
  int depth = 1;
  while (!AtEnd()) {
    const char c = Take();
    if (c == close) {
      if (--depth == 0) return inside;
    } else if (c == open) {
      ++depth;
    }
    inside += c;
  }
  Fail(line, fmt::format("got {} without its {}, want both", open, close));
}

void ShellReader::TakeDollar(Growing& word, bool is_quoted, bool splits) {
  const int line = line_;
  Take();  // $
  if (Peek() == '(' && Peek(1) == '(') {
    Take();
    const std::string inside = TakeUntilClosed('(', ')', line);
    const auto look_up = [&](std::string_view name) -> std::optional<int64_t> {
      const ShellValue value = ValueOf(std::string(name));
      if (value.words.empty() || !value.words[0].unset.empty()) return std::nullopt;
      return ParseNumber<int64_t>(value.words[0].text);
    };
    const auto sum = ShellArithmetic(inside, look_up);
    Append(word, sum ? ShellWord{std::to_string(*sum), line, ""} : Unknown("$(" + inside + ")"),
           splits);
  } else if (Peek() == '(') {
    Take();
    Append(word, Unknown("$(" + TakeUntilClosed('(', ')', line) + ")"), splits);
  } else if (Peek() == '{') {
    TakeBraces(word, is_quoted, splits);
  } else if (IsNamePart(Peek()) && !std::isdigit(static_cast<unsigned char>(Peek()))) {
    std::string name;
    while (IsNamePart(Peek())) name += Take();
    Append(word, FirstOf(ValueOf(name)), splits, /*keeps_words=*/false);
  } else if (!AtEnd() && (std::isdigit(static_cast<unsigned char>(Peek())) ||
                          std::string_view("@*#?!$-").find(Peek()) != std::string_view::npos)) {
    Append(word, Unknown(std::string("$") + Take()), splits);
  } else {
    word.current.text += '$';
    word.has_current = true;
  }
}

// ${NAME}, ${NAME[@]}, ${NAME:-default}, ${NAME-default}, ${NAME:=default}; others have no value.
void ShellReader::TakeBraces(Growing& word, bool is_quoted, bool splits) {
  const int line = line_;
  Take();  // {
  const std::string inside = TakeUntilClosed('{', '}', line);
  size_t end = 0;
  while (end < inside.size() && IsNamePart(inside[end])) ++end;
  const std::string name = inside.substr(0, end);
  std::string_view rest = std::string_view(inside).substr(end);
  const bool is_position = name.empty() || std::isdigit(static_cast<unsigned char>(name[0]));
  bool keeps_words = false;
  const bool takes_all = rest.starts_with("[@]") || rest.starts_with("[*]");
  if (takes_all) {
    keeps_words = is_quoted && rest[1] == '@';
    rest.remove_prefix(3);
  }
  ShellValue value =
      is_position ? ShellValue{{Unknown("${" + inside + "}")}, false} : ValueOf(name);
  if (!takes_all) value = FirstOf(std::move(value));
  if (rest.starts_with(":")) rest.remove_prefix(1);
  if (rest.starts_with("-") || rest.starts_with("=")) {
    const bool is_unset =
        !value.is_array && value.words.size() == 1 && value.words[0].unset == "$" + name;
    const bool is_empty =
        value.words.empty() ||
        (value.words.size() == 1 && value.words[0].unset.empty() && value.words[0].text.empty());
    if (is_unset || is_empty || is_position) {
      if (nesting_ >= kMostNesting) Fail(line, "got too many defaults in each other");
      ShellReader reader(rest.substr(1), name_, {}, line);
      reader.variables_ = variables_;
      reader.nesting_ = nesting_ + 1;
      Growing inner;
      while (!reader.AtEnd()) {
        const size_t before = reader.at_;
        for (ShellWord& one : reader.TakeWord(/*splits=*/false)) {
          inner.current.text += one.text;
          if (inner.current.unset.empty()) inner.current.unset = one.unset;
        }
        if (reader.at_ == before) inner.current.text += reader.Take();
      }
      inner.current.line = line;
      value = {{std::move(inner.current)}, false};
    }
  } else if (!rest.empty()) {
    value = {{Unknown("${" + inside + "}")}, false};
  }
  Append(word, value, splits, keeps_words);
}

ShellValue ShellReader::ValueOf(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found != variables_.end()) return found->second;
  return {{Unknown("$" + name)}, false};
}

// Adds text to the word; with `splits` the blanks in it divide it into words.
void ShellReader::Append(Growing& word, const ShellWord& piece, bool splits) const {
  ShellWord& current = word.current;
  if (!piece.unset.empty()) {
    if (current.unset.empty()) current.unset = piece.unset;
    word.has_current = true;
  }
  if (current.text.size() + piece.text.size() > kMostWordBytes) {
    Fail(line_, "got a word of more than a megabyte after its variables were put in");
  }
  if (!splits) {
    current.text += piece.text;
    word.has_current = true;
    return;
  }
  for (const char c : piece.text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!word.has_current) continue;
      word.done.push_back(std::exchange(word.current, {"", line_, ""}));
      word.has_current = false;
    } else {
      word.current.text += c;
      word.has_current = true;
    }
  }
}

void ShellReader::Append(Growing& word, const ShellValue& value, bool splits,
                         bool keeps_words) const {
  for (size_t i = 0; i < value.words.size(); ++i) {
    if (i > 0) {
      if (splits || keeps_words) {
        if (word.has_current) word.done.push_back(std::exchange(word.current, {"", line_, ""}));
        word.has_current = keeps_words;
      } else {
        word.current.text += ' ';
      }
    }
    ShellWord piece = value.words[i];
    Append(word, piece, splits && !keeps_words);
  }
  if (keeps_words && value.words.empty()) word.has_current = !word.current.text.empty();
}

}  // namespace stagecraft
