#include "tools/verb/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"
#include "tools/verb/flag_entry.h"
#include "tools/verb/flag_help.h"
#include "tools/verb/flag_sentences.h"

namespace stagecraft {
namespace {

template <typename T>
struct IsList : std::false_type {};
template <typename T>
struct IsList<std::vector<T>> : std::true_type {};

FlagType TypeOf(const bool&) { return FlagType::kSwitch; }
FlagType TypeOf(const int&) { return FlagType::kInteger; }
FlagType TypeOf(const int64_t&) { return FlagType::kInteger; }
FlagType TypeOf(const uint64_t&) { return FlagType::kInteger; }
FlagType TypeOf(const double&) { return FlagType::kNumber; }
FlagType TypeOf(const std::string&) { return FlagType::kText; }
template <typename T>
FlagType TypeOf(const std::optional<T>&) {
  return TypeOf(T());
}
template <typename T>
FlagType TypeOf(const std::vector<T>&) {
  return TypeOf(T());
}

// "--explain,!--no-explain" as names and negations.
void ReadNames(const std::string& names, FlagEntry& entry) {
  for (const std::string_view name : SplitAt(names, ',')) {
    if (name.starts_with('!')) {
      entry.negations.emplace_back(name.substr(1));
    } else {
      entry.names.emplace_back(name);
    }
  }
  CHECK(!entry.names.empty());
}

}  // namespace

struct Flags::Parser {
  HelpPage page;
  CLI::App app;

  template <typename T>
  Flag Add(FlagTopic topic, const std::string& names, T& value, FlagText text) {
    FlagEntry& entry = page.flags.emplace_back();
    entry.topic = topic;
    ReadNames(names, entry);
    entry.type = TypeOf(value);
    entry.is_list = IsList<T>::value;
    entry.text = std::move(text);
    if constexpr (std::is_same_v<T, bool>) {
      entry.option = app.add_flag(names, value);
    } else {
      entry.option = app.add_option(names, value);
    }
    return Flag(entry);
  }
};

FlagEntry& Flag::entry() const {
  CHECK(entry_ != nullptr);
  return *entry_;
}

Flag& Flag::Common() {
  entry().is_common = true;
  return *this;
}

Flag& Flag::Required(bool is_required) {
  entry().is_required = is_required;
  entry().option->required(is_required);
  return *this;
}

Flag& Flag::OneOf(Args names) {
  entry().option->check(CLI::Validator(
      [names](std::string& text) -> std::string {
        if (std::find(names.begin(), names.end(), text) != names.end()) return "";
        return fmt::format("got \"{}\", want one of {}{}", text, fmt::join(names, ", "),
                           DidYouMean(text, names));
      },
      "", "one of"));
  if (entry().text.range.empty()) entry().text.range = fmt::format("{}", fmt::join(names, ", "));
  entry().choices = std::move(names);
  return *this;
}

Flag& Flag::Between(int least, int most) {
  return Between(static_cast<int64_t>(least), static_cast<int64_t>(most));
}

Flag& Flag::Between(int64_t least, int64_t most) {
  return Within<int64_t>(least, most, fmt::format("{} to {}", least, most));
}

Flag& Flag::Between(double least, double most) {
  return Within<double>(least, most, fmt::format("{:g} to {:g}", least, most));
}

Flag& Flag::AtLeast(int least) {
  const std::string range = fmt::format("{} or more", least);
  if (entry().type == FlagType::kInteger) {
    return Within<int64_t>(least, std::numeric_limits<int64_t>::max(), range);
  }
  return Within<double>(least, std::numeric_limits<double>::max(), range);
}

template <typename Number>
Flag& Flag::Within(Number least, Number most, const std::string& range) {
  // The text is a number: ParseWords() has seen to that.
  const auto check = [least, most, range](std::string& text) -> std::string {
    const std::optional<Number> value = ParseNumber<Number>(text);
    if (value && *value >= least && *value <= most) return "";
    return fmt::format("got {}, want {}", text, range);
  };
  entry().option->check(CLI::Validator(check, "", "range"));
  if (entry().text.range.empty()) entry().text.range = range;
  return *this;
}

Flag& Flag::InBinary() {
  entry().form = NumberForm::kBinary;
  return *this;
}

Flag& Flag::InSeconds() {
  entry().form = NumberForm::kSeconds;
  return *this;
}

Flag& Flag::SplitAtCommas() {
  entry().option->delimiter(',');
  return *this;
}

Flag& Flag::Suggest(Args names) {
  if (entry().text.range.empty()) entry().text.range = fmt::format("{}", fmt::join(names, ", "));
  return Suggest([names = std::move(names)] { return names; });
}

Flag& Flag::Suggest(std::function<Args()> names) {
  entry().suggestions = std::move(names);
  return *this;
}

bool Flag::is_given() const { return entry().option->count() > 0; }
std::string Flag::text() const { return fmt::format("{}", fmt::join(values(), " ")); }
Args Flag::values() const { return entry().option->results(); }
const std::string& Flag::name() const { return entry().names[0]; }
const Args& Flag::negations() const { return entry().negations; }
bool Flag::is_switch() const { return entry().type == FlagType::kSwitch; }
bool Flag::takes_text() const { return entry().type == FlagType::kText; }

bool Flag::Has(const std::string& name) const {
  const auto is_among = [&](const Args& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return is_among(entry().names) || is_among(entry().negations);
}

Flags::Flags(std::string verb, std::string purpose) : parser_(std::make_unique<Parser>()) {
  parser_->page.verb = std::move(verb);
  parser_->page.purpose = std::move(purpose);
}
Flags::~Flags() = default;

FlagGroup Flags::In(FlagTopic topic) { return FlagGroup(*this, topic); }

void Flags::AddReporting(bool& json, bool& quiet) {
  In(FlagTopic::kOutput).Add("--json", json, {"", "Print the result as one JSON object."}).Common();
  AddQuiet(quiet);
}

void Flags::AddQuiet(bool& quiet) {
  In(FlagTopic::kOutput)
      .Add("--quiet", quiet, {"", "Print no progress, timings or notes to stderr; errors remain."});
}

void Flags::TakesFirst(const std::string& words) { parser_->page.first_words = words; }
void Flags::AddExample(const std::string& line) { parser_->page.examples.push_back(line); }
void Flags::AddNote(const std::string& paragraph) { AddTerm("", paragraph); }
void Flags::AddTerm(const std::string& term, const std::string& meaning) {
  parser_->page.notes.push_back({term, meaning});
}

bool Flags::Parse(const Args& args, std::ostream& out) {
  const auto has = [&](const char* word) {
    return std::find(args.begin(), args.end(), word) != args.end();
  };
  if (AskForHelp(args)) {
    if (has("--help-json")) {
      PrintHelpJson(parser_->page, out);
    } else {
      out << HelpText(parser_->page, has("--help-all"));
    }
    return true;
  }
  ParseWords(parser_->page, args, parser_->app);
  return false;
}

Flag Flags::Find(const std::string& name) const {
  for (FlagEntry& entry : parser_->page.flags) {
    if (Flag(entry).Has(name)) return Flag(entry);
  }
  CHECK(false);
  return {};
}

bool Flags::IsGiven(const std::string& name) const { return Find(name).is_given(); }

std::vector<Flag> Flags::Given() const {
  std::vector<Flag> given;
  for (FlagEntry& entry : parser_->page.flags) {
    if (entry.option->count() > 0) given.emplace_back(entry);
  }
  return given;
}

std::vector<Flag> Flags::All() const {
  std::vector<Flag> all;
  for (FlagEntry& entry : parser_->page.flags) all.emplace_back(entry);
  return all;
}

Flag FlagGroup::Add(const std::string& names, bool& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, int& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, int64_t& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, uint64_t& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, double& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::string& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::optional<int>& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::optional<double>& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::vector<int>& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::vector<int64_t>& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}
Flag FlagGroup::Add(const std::string& names, std::vector<std::string>& value, FlagText text) {
  return flags_->parser_->Add(topic_, names, value, std::move(text));
}

bool AskForHelp(const Args& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "--help-all" || word == "--help-json";
  });
}

double ParsePercent(const std::string& flag, const std::string& text) {
  const std::string number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  const std::optional<double> percent = ParseNumber<double>(number);
  if (!percent || !std::isfinite(*percent) || *percent < 0) {
    throw InputError(fmt::format("{}: got \"{}\", want a percentage such as 10%", flag, text));
  }
  return *percent;
}

}  // namespace stagecraft
