// Lists of numbers separated by commas, as flags take them.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {

// Returns the numbers of `text`, each from `least` to `most`; none if it is empty. Throws
// InputError that begins with `flag`.
template <typename Number>
std::vector<Number> ParseNumbers(const std::string& flag, const std::string& text, Number least,
                                 Number most) {
  std::vector<Number> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : SplitAt(text, ',')) {
    const std::optional<Number> number = ParseNumber<Number>(part);
    if (!number || !(*number >= least) || *number > most) {
      throw InputError(fmt::format("{}: got '{}', want numbers of {:g} to {:g} with commas between",
                                   flag, text, static_cast<double>(least),
                                   static_cast<double>(most)));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace stagecraft
