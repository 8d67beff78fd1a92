#include "tools/report/commas.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stagecraft {

std::string WithCommas(std::string number) {
  const auto end = static_cast<ptrdiff_t>(std::min(number.find('.'), number.size()));
  const ptrdiff_t first = number.starts_with('-') ? 1 : 0;
  for (ptrdiff_t at = end - 3; at > first; at -= 3) number.insert(static_cast<size_t>(at), ",");
  return number;
}

std::string WithCommas(double number, int decimals) {
  return WithCommas(fmt::format("{:.{}f}", number, decimals));
}

std::string AmountText(double amount) {
  constexpr double kLeastWhole = 1000;
  if (!(std::abs(amount) >= kLeastWhole)) return fmt::format("{:.4g}", amount);
  return WithCommas(amount, 0);
}

}  // namespace stagecraft
