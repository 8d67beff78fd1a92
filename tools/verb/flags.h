// Flags: what a verb can be told. Each flag is described once, with its group, value, range and
// default; parsing, --help, --help-all, --help-json and shell completion all come from that.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/verb/command.h"
#include "tools/verb/flag_text.h"

namespace stagecraft {

struct FlagEntry;  // flag_entry.h

// One flag, or a positional word such as FILE. A copy is the same flag; it must not outlive its
// Flags.
class Flag {
 public:
  Flag() = default;  // none: only to be assigned to
  explicit Flag(FlagEntry& entry) : entry_(&entry) {}

  // --help shows it; the others are shown by --help-all.
  Flag& Common();
  Flag& Required(bool is_required = true);
  // The value is exactly one of `names`; shells complete them.
  Flag& OneOf(Args names);
  Flag& Between(int least, int most);
  Flag& Between(int64_t least, int64_t most);
  Flag& Between(double least, double most);
  // One word may hold several values of a list.
  Flag& SplitAtCommas();
  // The value is usually one of `names`, which shells complete beside files where the value may be
  // one; other values are not refused. They are the range of the flag if its text gives none.
  Flag& Suggest(Args names);
  // The same for a long list, which is not in the help. Called when a completion script is made.
  Flag& Suggest(std::function<Args()> names);

  // Of what was parsed.
  bool is_given() const;
  std::string text() const;  // the value as it was typed

  // As sentences about it begin: "--tp", "-o", "FILE".
  const std::string& name() const;
  // Whether `name` ("--no-overlap-p2p") is one of its spellings.
  bool Has(const std::string& name) const;

 private:
  FlagEntry& entry() const;

  FlagEntry* entry_ = nullptr;
};

class FlagGroup;

class Flags {
 public:
  // `purpose` says what the verb does, in whole sentences.
  Flags(std::string verb, std::string purpose);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  FlagGroup In(FlagTopic topic);
  // --json and --quiet, which every verb takes that reports something.
  void AddReporting(bool& json, bool& quiet);
  void AddQuiet(bool& quiet);

  // Words that the verb itself reads before it parses the rest; for the line of usage.
  void TakesFirst(const std::string& words);
  // A command line, without "stagecraft"; the help begins with its examples.
  void AddExample(const std::string& line);
  // A paragraph that ends the help, and a term with what it means.
  void AddNote(const std::string& paragraph);
  void AddTerm(const std::string& term, const std::string& meaning);

  // Stores the values of `args` in the variables that the flags are bound to. True where help is
  // asked for: it is then on `out`, nothing is stored, and the verb ends with kExitOk. Throws
  // InputError, whose sentence opens with the flag, for
  //   - a flag that is not there, with the nearest names;
  //   - a missing or repeated value, or another flag in its place;
  //   - a number that is malformed, not finite or out of its type's range;
  //   - what a flag's own check refuses, and required flags that are missing.
  // Integers are decimal, "010" is ten.
  bool Parse(const Args& args, std::ostream& out);

  // Of what was parsed.
  bool IsGiven(const std::string& name) const;
  Flag Find(const std::string& name) const;  // which must be there
  std::vector<Flag> Given() const;

 private:
  friend class FlagGroup;
  struct Parser;

  std::unique_ptr<Parser> parser_;
};

// Where flags are added. Variables must outlive the parse. `names` are "--tp", "-o,--output", or
// "IN" for a positional word; "--explain,!--no-explain" is a switch that can be turned off.
class FlagGroup {
 public:
  FlagGroup(Flags& flags, FlagTopic topic) : flags_(&flags), topic_(topic) {}

  Flag Add(const std::string& names, bool& value, FlagText text);
  Flag Add(const std::string& names, int& value, FlagText text);
  Flag Add(const std::string& names, int64_t& value, FlagText text);
  Flag Add(const std::string& names, uint64_t& value, FlagText text);
  Flag Add(const std::string& names, double& value, FlagText text);
  Flag Add(const std::string& names, std::string& value, FlagText text);
  Flag Add(const std::string& names, std::optional<int>& value, FlagText text);
  Flag Add(const std::string& names, std::optional<double>& value, FlagText text);
  Flag Add(const std::string& names, std::vector<int>& value, FlagText text);
  Flag Add(const std::string& names, std::vector<int64_t>& value, FlagText text);
  Flag Add(const std::string& names, std::vector<std::string>& value, FlagText text);

 private:
  Flags* flags_;
  FlagTopic topic_;
};

// Whether the words ask for help of any kind.
bool AskForHelp(const Args& words);

// "6%" or "6": percent, at least 0. Throws InputError that names `flag`.
double ParsePercent(const std::string& flag, const std::string& text);

}  // namespace stagecraft
