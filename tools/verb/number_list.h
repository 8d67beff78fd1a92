// Numbers with commas between, as flags take them.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {

// Each from `least` to `most`; none where `text` is empty. Throws InputError that
// opens with `flag`.
template <typename Number>
std::vector<Number> ParseNumbers(const std::string& flag, const std::string& text, Number least,
                                 Number most) {
  std::vector<Number> numbers;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Number number{};
    const auto [stopped, error] = std::from_chars(text.data() + begin, text.data() + end, number);
    if (error != std::errc() || stopped != text.data() + end || !(number >= least) ||
        number > most) {
      throw InputError(fmt::format("{}: got '{}', want numbers of {:g} to {:g} with commas between",
                                   flag, text, static_cast<double>(least),
                                   static_cast<double>(most)));
    }
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace stagecraft
