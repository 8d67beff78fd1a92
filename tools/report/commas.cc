#include "tools/report/commas.h"

#include <algorithm>
#include <cstddef>

namespace stagecraft {

std::string WithCommas(std::string number) {
  const auto end = static_cast<ptrdiff_t>(std::min(number.find('.'), number.size()));
  const ptrdiff_t first = number.starts_with('-') ? 1 : 0;
  for (ptrdiff_t at = end - 3; at > first; at -= 3) number.insert(static_cast<size_t>(at), ",");
  return number;
}

}  // namespace stagecraft
