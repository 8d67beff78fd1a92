// Flags: the command line of a verb. Each flag is described once, with its group, value, range and
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
  Flag() = default;  // no flag; only to be assigned to
  explicit Flag(FlagEntry& entry) : entry_(&entry) {}

  // Has --help show the flag; the others are shown only by --help-all.
  Flag& Common();
  Flag& Required(bool is_required = true);
  // Restricts the value to these names, which shells complete.
  Flag& OneOf(Args names);
  Flag& Between(int least, int most);  // refuses other numbers, of a list each
  Flag& Between(int64_t least, int64_t most);
  Flag& Between(double least, double most);
  Flag& AtLeast(int least);
  // Numbers may end in k, M, B or G, and T, for powers of 1,000, or in Ki, Mi, Gi and Ti, for
  // powers of 1,024 (quantity.h). Of this flag, k and the like also stand for powers of 1,024.
  Flag& InBinary();
  // The number is one of seconds, and may be given with ms, s, min, h or d.
  Flag& InSeconds();
  // Lets one word hold several values of a list, separated by commas.
  Flag& SplitAtCommas();
  // The value is usually one of `names`, which shells complete beside files if the value may be
  // one. Other values are allowed, too. The names are the flag's range if its text gives none.
  Flag& Suggest(Args names);
  // The same for a long list, which is not in the help. `names` is called when a completion script
  // is made.
  Flag& Suggest(std::function<Args()> names);

  // What the parsed command line says.
  bool is_given() const;
  std::string text() const;  // the value as it was typed
  Args values() const;       // the same, one by one if there are several

  // The name with which sentences about the flag begin: "--tp", "-o", "FILE".
  const std::string& name() const;
  const Args& negations() const;  // "--no-overlap-p2p"
  bool is_switch() const;
  bool takes_text() const;  // rather than numbers
  // Whether `name` ("--no-overlap-p2p") is one of its spellings.
  bool Has(const std::string& name) const;

 private:
  FlagEntry& entry() const;
  template <typename Number>
  Flag& Within(Number least, Number most, const std::string& range);

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
  // Adds --json and --quiet, which every verb takes that reports something.
  void AddReporting(bool& json, bool& quiet);
  void AddQuiet(bool& quiet);

  // Names the words that the verb itself reads before it parses the rest, for the usage line.
  void TakesFirst(const std::string& words);
  // Adds a command line, without "stagecraft", to the examples of the help.
  void AddExample(const std::string& line);
  // Add a paragraph, or a term with what it means, to the end of the help.
  void AddNote(const std::string& paragraph);
  void AddTerm(const std::string& term, const std::string& meaning);

  // Stores the values of `args` in the variables that the flags are bound to. Returns true if help
  // is asked for: it was then printed to `out`, nothing was stored, and the verb should end with
  // kExitOk. Throws InputError, whose sentence begins with the flag, for
  //   - an unknown flag, with the nearest names;
  //   - a missing or repeated value, or another flag in its place;
  //   - a number that is malformed, not finite or out of its type's range;
  //   - what a flag's own check refuses, and required flags that are missing.
  // Integers are decimal: "010" is ten. After a second parse flags are given as it says, but the
  // variables of flags that are not keep their values.
  bool Parse(const Args& args, std::ostream& out);

  // What the parsed command line says. A flag of this `name` must have been added.
  bool IsGiven(const std::string& name) const;
  Flag Find(const std::string& name) const;
  std::vector<Flag> Given() const;
  // All flags that were added, in this order.
  std::vector<Flag> All() const;

 private:
  friend class FlagGroup;
  struct Parser;

  std::unique_ptr<Parser> parser_;
};

// Adds flags to a group of the help. Variables must outlive the parse. `names` are "--tp",
// "-o,--output", or "IN" for a positional word; "--explain,!--no-explain" is a switch that can be
// turned off.
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

// Parses a percentage of at least 0: returns 6 for "6%" and "6". Throws InputError that names
// `flag`.
double ParsePercent(const std::string& flag, const std::string& text);

}  // namespace stagecraft
