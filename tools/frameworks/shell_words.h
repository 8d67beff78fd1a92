// ShellReader: the words of a script, one command after another, as a shell would expand them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/frameworks/shell_script.h"

namespace stagecraft {

// A variable, or an array of several words.
struct ShellValue {
  std::vector<ShellWord> words;
  bool is_array = false;
};

class ShellReader {
 public:
  // `text` must outlive the reader; errors begin with `name`.
  ShellReader(std::string_view text, std::string name, const ShellVariables& given, int line);

  // Returns the words of the next command that is more than an assignment, whether it is sure to
  // run or not; no value at the end of the script. Assignments take effect.
  std::optional<std::vector<ShellWord>> Next();

 private:
  // A word as it grows: unquoted expansions may divide it into several.
  struct Growing {
    std::vector<ShellWord> done;
    ShellWord current;
    bool has_current = false;
    bool is_quoted = false;  // some part of it
  };

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char Take();
  [[noreturn]] void Fail(int line, const std::string& problem) const;

  void SkipBlanks();           // and comments and continued lines, but no line ends
  void SkipLinesOfDocument();  // after a << of the line that ended
  bool TakeRedirection();      // with the word that follows it
  bool TakeSeparator();        // of commands, if one is there
  // Handles a word that opens or closes a branch or loop; returns whether it was one.
  bool TakeKeyword(const std::vector<ShellWord>& words);
  // Reads "NAME=value", "NAME+=value" or "NAME=(...)"; returns whether it was there.
  bool TakeAssignment();
  std::vector<ShellWord> TakeArray();

  std::vector<ShellWord> TakeWord(bool splits);
  void TakeQuoted(Growing& word);
  void TakeDollar(Growing& word, bool is_quoted, bool splits);
  void TakeBraces(Growing& word, bool is_quoted, bool splits);
  std::string TakeUntilClosed(char open, char close, int line);

  void Append(Growing& word, const ShellWord& piece, bool splits) const;
  void Append(Growing& word, const ShellValue& value, bool splits, bool keeps_words) const;
  ShellValue ValueOf(const std::string& name) const;
  void Set(const std::string& name, ShellValue value, bool appends);
  ShellWord Unknown(const std::string& what) const { return {"", line_, what}; }

  std::string_view text_;
  std::string name_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;                       // of branches and loops
  int nesting_ = 0;                     // of words in words
  bool is_after_test_ = false;          // && or || stands before the command
  std::vector<std::string> documents_;  // the ends of documents that begin after this line
  std::map<std::string, ShellValue> variables_;
};

}  // namespace stagecraft
