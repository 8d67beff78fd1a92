#include "tools/frameworks/option_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr size_t kMostShown = 80;  // bytes of a value in a report
constexpr int kMostDepth = 32;     // of objects in objects

std::string Lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

void Flatten(const nlohmann::json& object, const std::string& prefix, const std::string& file,
             int depth, std::vector<Option>& options) {
  if (depth > kMostDepth) {
    throw InputError(
        fmt::format("{}: got objects {} deep, want at most {}", file, depth, kMostDepth));
  }
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object() && !value.empty()) {
      Flatten(value, name, file, depth + 1, options);
    } else {
      options.push_back({name, value, file + ": " + name, ""});
    }
  }
}

}  // namespace

std::string ValueText(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  const bool is_list_of_texts =
      value.is_array() && std::all_of(value.begin(), value.end(),
                                      [](const nlohmann::json& one) { return one.is_string(); });
  if (is_list_of_texts) {
    return Join(value, " ", [](const nlohmann::json& one) { return one.get<std::string>(); });
  }
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string OptionText(const Option& option) {
  const std::string& name = option.spelling.empty() ? option.name : option.spelling;
  const bool is_switch = option.spelling.empty() && option.value.is_boolean();
  if (is_switch && option.value.get<bool>()) return name;
  std::string value = option.unset.empty() ? ValueText(option.value) : option.unset;
  std::replace(value.begin(), value.end(), '\n', ' ');
  if (value.size() > kMostShown) value = value.substr(0, kMostShown) + "...";
  return name.empty() ? value : name + " " + value;
}

OptionReader::OptionReader(std::vector<Option> options) {
  for (Option& option : options) {
    const auto [entry, is_new] = index_.try_emplace(option.name, options_.size());
    if (is_new) {
      options_.push_back(std::move(option));
    } else {
      options_[entry->second] = std::move(option);
    }
  }
}

const Option* OptionReader::Find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return nullptr;
  const Option& option = options_[found->second];
  return option.value.is_null() ? nullptr : &option;
}

const Option& OptionReader::Checked(const Option& option) const {
  if (option.unset.empty()) return option;
  throw InputError(fmt::format("{}: got {}, which has no value here, want it with --set NAME=VALUE",
                               option.place, option.unset));
}

void OptionReader::Refuse(std::string_view name, const std::string& wanted) const {
  const Option* const option = Find(name);
  CHECK(option != nullptr);
  const bool is_switch = option->value.is_boolean() && option->value.get<bool>();
  throw InputError(fmt::format("{}: got {}, want {}", option->place,
                               is_switch ? "no value" : Quoted(ValueText(option->value)), wanted));
}

std::optional<int64_t> OptionReader::Whole(std::string_view name, int64_t least,
                                           int64_t most) const {
  const Option* const option = Find(name);
  if (option == nullptr) return std::nullopt;
  Checked(*option);
  std::optional<int64_t> number;
  if (option->value.is_number_integer()) {
    const bool is_large = option->value.is_number_unsigned() &&
                          option->value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    if (!is_large) number = option->value.get<int64_t>();
  }
  if (option->value.is_number_float()) {  // 5e8, as JSON files of DeepSpeed have it
    const double value = option->value.get<double>();
    if (value == std::floor(value) && std::abs(value) < 9e15) number = static_cast<int64_t>(value);
  }
  if (option->value.is_string()) number = ParseNumber<int64_t>(option->value.get<std::string>());
  if (!number || *number < least || *number > most) {
    Refuse(name, fmt::format("a whole number from {} to {}", least, most));
  }
  return number;
}

std::optional<double> OptionReader::Number(std::string_view name, double least, double most) const {
  const Option* const option = Find(name);
  if (option == nullptr) return std::nullopt;
  Checked(*option);
  std::optional<double> number;
  if (option->value.is_number()) number = option->value.get<double>();
  if (option->value.is_string()) number = ParseNumber<double>(option->value.get<std::string>());
  if (!number || !(*number >= least && *number <= most)) {
    Refuse(name, fmt::format("a number from {} to {}", least, most));
  }
  return number;
}

std::optional<bool> OptionReader::Truth(std::string_view name) const {
  const Option* const option = Find(name);
  if (option == nullptr) return std::nullopt;
  Checked(*option);
  if (option->value.is_boolean()) return option->value.get<bool>();
  const std::string word = Lowered(ValueText(option->value));
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  Refuse(name, "true or false");
}

std::optional<std::string> OptionReader::Text(std::string_view name) const {
  const Option* const option = Find(name);
  if (option == nullptr) return std::nullopt;
  Checked(*option);
  if (option->value.is_boolean() || option->value.is_object()) Refuse(name, "a text");
  return ValueText(option->value);
}

std::optional<std::string> OptionReader::Word(std::string_view name,
                                              std::span<const char* const> words) const {
  std::optional<std::string> text = Text(name);
  if (!text || std::find(words.begin(), words.end(), *text) != words.end()) return text;
  Refuse(name, "one of " + Join(words, ", "));
}

std::vector<std::string> OptionReader::Texts(std::string_view name) const {
  const Option* const option = Find(name);
  if (option == nullptr) return {};
  Checked(*option);
  if (!option->value.is_array()) return {*Text(name)};
  std::vector<std::string> texts;
  for (const nlohmann::json& one : option->value) texts.push_back(ValueText(one));
  return texts;
}

nlohmann::json OptionReader::Value(std::string_view name) const {
  const Option* const option = Find(name);
  return option == nullptr ? nlohmann::json() : Checked(*option).value;
}

void OptionReader::Became(std::string_view name, std::string text) {
  if (index_.contains(name)) fates_[std::string(name)] = {Fate::kUnderstood, std::move(text)};
}

void OptionReader::IsNotSimulated(std::string_view name, std::string why) {
  if (index_.contains(name)) fates_[std::string(name)] = {Fate::kNotSimulated, std::move(why)};
}

void OptionReader::IsIrrelevant(std::string_view name, std::string why) {
  if (index_.contains(name)) fates_[std::string(name)] = {Fate::kIrrelevant, std::move(why)};
}

OptionReport OptionReader::Report(std::span<const IrrelevantOptions> irrelevant) const {
  OptionReport report;
  for (const Option& option : options_) {
    OptionFate fate{OptionText(option), ""};
    const auto found = fates_.find(option.name);
    if (found != fates_.end()) {
      fate.text = found->second.text;
      switch (found->second.fate) {
        case Fate::kUnderstood:
          report.understood.push_back(std::move(fate));
          continue;
        case Fate::kNotSimulated:
          report.not_simulated.push_back(std::move(fate));
          continue;
        case Fate::kIrrelevant:
          report.irrelevant.push_back(std::move(fate));
          continue;
      }
    }
    if (option.value.is_null()) fate.text = "no value: the default of the framework";
    for (const IrrelevantOptions& group : irrelevant) {
      const bool is_in = std::any_of(group.names.begin(), group.names.end(),
                                     [&](const char* name) { return Matches(option.name, name); });
      if (!is_in) continue;
      fate.text = group.reason;
      break;
    }
    (fate.text.empty() ? report.unknown : report.irrelevant).push_back(std::move(fate));
  }
  return report;
}

std::vector<Option> FlatOptions(const nlohmann::json& object, const std::string& name) {
  if (!object.is_object()) {
    throw InputError(
        fmt::format("{}: got {}, want keys with values", name, Quoted(ValueText(object))));
  }
  std::vector<Option> options;
  Flatten(object, "", name, 0, options);
  return options;
}

}  // namespace stagecraft
