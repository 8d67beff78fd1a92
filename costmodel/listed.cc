#include "costmodel/listed.h"

#include <cstddef>

namespace stagecraft {

std::string Listed(const std::vector<std::string>& names, std::string_view last,
                   std::string_view quote) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? last : ", ";
    text.append(quote).append(names[i]).append(quote);
  }
  return text;
}

}  // namespace stagecraft
