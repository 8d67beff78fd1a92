#include "tools/verb/flag_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"
#include "tools/verb/flag_entry.h"
#include "tools/verb/foreign_flags.h"
#include "tools/verb/quantity.h"

namespace stagecraft {
namespace {

// The long names of all flags, with their dashes: "--tp", "--no-sequence-parallel".
Args FlagNames(const CLI::App& app) {
  Args names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool Takes(const CLI::App& app, const std::string& word) {
  const Args names = FlagNames(app);
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Returns the number that a suffix, if there is one, makes of `text`.
std::optional<double> Expanded(const std::string& text, NumberForm form) {
  if (form == NumberForm::kSeconds) return ParseSeconds(text);
  return ParseQuantity(text, form == NumberForm::kBinary ? Thousand::kBinary : Thousand::kDecimal);
}

// Rewrites `text` without leading zeros, after which CLI11 reads octal digits, and without a
// suffix. Returns what is wrong with the number, or "".
template <typename Integer>
std::string NormaliseInteger(std::string& text, NumberForm form) {
  constexpr double kMostExact = 1LL << 53;  // up to here, doubles hold every whole number
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return fmt::format("got \"{}\", want a whole number of at most 64 bits", text);
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    const std::optional<double> expanded = Expanded(text, form);
    const bool has_suffix = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back()));
    const bool fits = expanded && has_suffix && *expanded == std::floor(*expanded) &&
                      std::abs(*expanded) <= kMostExact &&
                      (*expanded >= 0 || std::is_signed_v<Integer>);
    if (!fits) {
      return fmt::format("got \"{}\", want a whole number{}", text,
                         std::is_unsigned_v<Integer> ? " of at least 0" : "");
    }
    value = static_cast<Integer>(*expanded);
  }
  text = std::to_string(value);
  return "";
}

std::string CheckReal(std::string& text, NumberForm form) {
  const std::optional<double> plain = ParseNumber<double>(text);
  if (plain && std::isfinite(*plain)) return "";
  const std::optional<double> value = Expanded(text, form);
  if (!value) {
    return fmt::format("got \"{}\", want a finite number such as {}", text,
                       form == NumberForm::kSeconds ? "30, 30s or 10min" : "0.5 or 1e9");
  }
  text = fmt::format("{}", *value);
  return "";
}

// Adds checks to all numbers: CLI11's own conversions read "010" as eight, let integers of more
// than 64 bits saturate, accept "nan" and know no suffixes.
void AddNumberChecks(const HelpPage& page) {
  for (const FlagEntry& flag : page.flags) {
    const auto read = [form = flag.form](auto check) {
      return [form, check](std::string& text) { return check(text, form); };
    };
    const std::string type = flag.option->get_type_name();
    if (type.starts_with("INT")) {
      flag.option->transform(CLI::Validator(read(NormaliseInteger<int64_t>), "", "whole number"));
    } else if (type.starts_with("UINT")) {
      flag.option->transform(CLI::Validator(read(NormaliseInteger<uint64_t>), "", "whole number"));
    } else if (type.starts_with("FLOAT")) {
      flag.option->transform(CLI::Validator(read(CheckReal), "", "finite number"));
    }
  }
}

std::string ExplainUnexpected(const CLI::App& app) {
  const std::string word = app.remaining().empty() ? "" : app.remaining().front();
  if (!word.starts_with('-')) return fmt::format("\"{}\": got a word, want only flags here", word);
  const std::string flag = word.substr(0, word.find('='));
  const std::string own = OwnFlagFor(flag, FlagNames(app));
  if (!own.empty()) return fmt::format("{}: unknown flag; {}", flag, own);
  return fmt::format("{}: unknown flag; {}", flag, NearestNames(flag, FlagNames(app)));
}

// Returns a sentence about an option that takes one value but has several, or about one whose value
// is another flag; "" if there is none.
std::string ExplainValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const size_t count = option->results().size();
    if (option->get_expected_max() == 1 && option->get_type_size_max() == 1 && count > 1) {
      return fmt::format("{}: given {} times, want it once", option->get_name(), count);
    }
    for (const std::string& value : option->results()) {
      if (!value.starts_with("--")) continue;
      if (Takes(app, value.substr(0, value.find('=')))) {
        return fmt::format("{}: got no value, the next word is the flag {}", option->get_name(),
                           value);
      }
    }
  }
  return "";
}

// Returns a sentence about the option whose value does not fit its type; what CLI11 says if the
// option is not found.
std::string ExplainConversion(const CLI::App& app, const std::string& cli11_says) {
  for (const CLI::Option* option : app.get_options()) {
    const Args values = option->results();
    if (!values.empty() && cli11_says.find(option->get_name() + " = ") != std::string::npos) {
      return fmt::format("{}: got \"{}\", want a {} that fits", option->get_name(),
                         fmt::join(values, " "),
                         option->get_type_name().starts_with("FLOAT") ? "number" : "whole number");
    }
  }
  return cli11_says;
}

// Returns `text` with the flag's first name where it begins with CLI11's name of the flag: "-o: …"
// for "--output: …".
std::string WithFirstName(const HelpPage& page, const std::string& text) {
  for (const FlagEntry& flag : page.flags) {
    const std::string name = flag.option->get_name();
    const bool opens = text.starts_with(name + ":") || text.starts_with(name + " ");
    if (opens) return flag.names[0] + text.substr(name.size());
  }
  return text;
}

std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::string values = ExplainValues(app);
  if (!values.empty()) return values;
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) return ExplainUnexpected(app);
  std::string text = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error)) text = ExplainConversion(app, text);
  const std::string missing_value = ": 1 required ";
  if (const size_t at = text.find(missing_value); at != std::string::npos) {
    text = text.substr(0, at) + ": got no value, want one";
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void ParseWords(const HelpPage& page, const Args& args, CLI::App& app) {
  if (!app.parsed()) AddNumberChecks(page);
  try {
    app.parse(Args(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    throw InputError(WithFirstName(page, Explain(app, error)));
  }
  // CLI11 accepts a flag as the value of a text option before it.
  const std::string values = ExplainValues(app);
  if (!values.empty()) throw InputError(WithFirstName(page, values));
}

}  // namespace stagecraft
