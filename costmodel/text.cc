#include "costmodel/text.h"

#include <algorithm>
#include <cstddef>

#include "costmodel/check.h"

namespace stagecraft {

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  return SplitAt(text, std::string_view(&separator, 1));
}

std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separator) {
  CHECK(!separator.empty());
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n";
  std::vector<std::string_view> words;
  for (size_t end = 0;;) {
    const size_t begin = text.find_first_not_of(kBetween, end);
    if (begin == std::string_view::npos) return words;
    end = std::min(text.find_first_of(kBetween, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
  }
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

}  // namespace stagecraft
