// Pieces of text that files and flags are made of: split, trimmed, joined, and read as numbers.
#pragma once

#include <charconv>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace stagecraft {

// The parts between separators, which point into `text`. Text without a separator is one part, and
// so is empty text; a separator at an end has an empty part beside it.
std::vector<std::string_view> SplitAt(std::string_view text, char separator);
// `separator` is not empty.
std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separator);

// Whatever blanks, tabs, line feeds and carriage returns separate; no word is empty.
std::vector<std::string_view> SplitWords(std::string_view text);

// Without blanks, tabs and carriage returns at either end.
std::string_view Trimmed(std::string_view text);

// The names of all in `items`, with the separator between. `name` is how to come by the name of
// one: a member or a function.
template <typename Items, typename Name = std::identity>
std::string Join(const Items& items, std::string_view separator, const Name& name = {}) {
  std::string text;
  for (auto item = std::begin(items); item != std::end(items); ++item) {
    if (item != std::begin(items)) text += separator;
    text += std::invoke(name, *item);
  }
  return text;
}

// The number that the whole of `text` is, in decimal. Nothing where it is none or does not fit the
// type. Numbers with a point may be "inf" or "nan": whoever wants them finite compares.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace stagecraft
