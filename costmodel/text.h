// Functions that split, trim and join the text of files and flags, and read numbers from it.
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

// Returns the parts between separators, which point into `text`. Text without a separator is one
// part, even if it is empty; a separator at the beginning or the end has an empty part beside it.
std::vector<std::string_view> SplitAt(std::string_view text, char separator);
// The same with a separator of several characters. Precondition: it is not empty.
std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separator);

// Returns the words that blanks, tabs, line feeds and carriage returns separate; no word is empty.
std::vector<std::string_view> SplitWords(std::string_view text);

// Returns `text` without the blanks, tabs and carriage returns at its beginning and end.
std::string_view Trimmed(std::string_view text);

// Returns the names of all `items`, with the separator between them. `name` gives the name of an
// item: it is a member or a function.
template <typename Items, typename Name = std::identity>
std::string Join(const Items& items, std::string_view separator, const Name& name = {}) {
  std::string text;
  for (auto item = std::begin(items); item != std::end(items); ++item) {
    if (item != std::begin(items)) text += separator;
    text += std::invoke(name, *item);
  }
  return text;
}

// Returns the decimal number of which the whole of `text` consists; no value if it is no number or
// does not fit the type. A floating-point number may be "inf" or "nan": callers that need a finite
// one must check.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

// Removes the number with which `text` begins, in decimal, and returns it. Returns no value, and
// leaves `text` as it is, if it begins with none or with one that does not fit the type.
template <typename Number>
std::optional<Number> TakeNumber(std::string_view& text) {
  Number number{};
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stopped - text.data()));
  return number;
}

}  // namespace stagecraft
