// Option, OptionReader: the options of a training framework, from a command line or a file, and
// what became of each.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// One option as a framework takes it.
struct Option {
  std::string name;  // "tensor-model-parallel-size", "parallelism.tensor_parallel_degree"
  // True for a switch; a text or a list of texts from a command line; any value from a file.
  nlohmann::json value;
  std::string place;  // with which errors begin: "train.sh: line 12: --tensor-model-parallel-size"
  std::string unset;  // what the value takes from the shell and has no value: "$NODES"; or empty
  std::string spelling = {};  // in a report, if it is not the name
};

// What became of an option.
struct OptionFate {
  std::string option;  // with its value, as a user wrote it
  std::string text;    // what it became, or why it does not matter; empty if it is unknown
};

struct OptionReport {
  std::vector<OptionFate> understood;     // and used
  std::vector<OptionFate> not_simulated;  // they change the speed or memory of a step; why not used
  std::vector<OptionFate> irrelevant;     // they change neither; why not
  std::vector<OptionFate> unknown;
};

// Options that change neither time nor memory of a training step, for one reason. A name that ends
// with '*' stands for all that begin with it.
struct IrrelevantOptions {
  const char* reason;
  std::span<const char* const> names;
};

// Reads options by name; of several with one name the last one counts, as in argparse. The getters
// return no value if an option is absent. They throw an InputError that begins with its place for a
// value of another kind, or one that takes a shell variable that is not set.
class OptionReader {
 public:
  explicit OptionReader(std::vector<Option> options);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const Option* Find(std::string_view name) const;
  std::optional<int64_t> Whole(std::string_view name, int64_t least, int64_t most) const;
  std::optional<double> Number(std::string_view name, double least, double most) const;
  // Whether a switch is on: true if it is given without a value, false if it is absent.
  bool IsOn(std::string_view name) const { return Truth(name).value_or(false); }
  std::optional<bool> Truth(std::string_view name) const;
  std::optional<std::string> Text(std::string_view name) const;
  // The same, but one of these words.
  std::optional<std::string> Word(std::string_view name, std::span<const char* const> words) const;
  std::vector<std::string> Texts(std::string_view name) const;
  // Returns the option's value, whatever its kind; null if it is absent.
  nlohmann::json Value(std::string_view name) const;

  // These say what became of an option; they do nothing if it is absent.
  void Became(std::string_view name, std::string text);
  void IsNotSimulated(std::string_view name, std::string why);
  void IsIrrelevant(std::string_view name, std::string why);

  // Throws an InputError at the place of an option: "PLACE: got VALUE, want ...".
  [[noreturn]] void Refuse(std::string_view name, const std::string& wanted) const;

  // Returns what became of all options, in the order in which they were given.
  OptionReport Report(std::span<const IrrelevantOptions> irrelevant) const;

 private:
  enum class Fate { kUnderstood, kNotSimulated, kIrrelevant };
  struct Entry {
    Fate fate;
    std::string text;
  };

  const Option& Checked(const Option& option) const;

  std::vector<Option> options_;                       // each name once
  std::map<std::string, size_t, std::less<>> index_;  // by name
  std::map<std::string, Entry, std::less<>> fates_;
};

// Returns the value as a user would write it, any other than texts as JSON, whose bytes that are
// not UTF-8 are replaced.
std::string ValueText(const nlohmann::json& value);

// Returns the option as a user would write it: "tensor-model-parallel-size 8".
std::string OptionText(const Option& option);

// Returns the members of a JSON object, those of objects inside it with joined names: "a.b". Throws
// an InputError that begins with `name` if it is no object.
std::vector<Option> FlatOptions(const nlohmann::json& object, const std::string& name);

}  // namespace stagecraft
