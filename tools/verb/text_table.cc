#include "tools/verb/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "costmodel/check.h"

namespace stagecraft {

void TextTable::Print(std::ostream& out) const {
  std::vector<size_t> widths(lines_[0].size());
  for (const auto& line : lines_) {
    CHECK(line.size() == widths.size());
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  for (size_t i = 0; i < lines_.size(); ++i) {
    const auto& line = lines_[i];
    std::string text;
    for (size_t c = 0; c < line.size(); ++c) {
      text += stands_left_[c] ? fmt::format("{:<{}}  ", line[c], widths[c])
                              : fmt::format("{:>{}}  ", line[c], widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
    const auto [begin, end] = texts_.equal_range(i);
    for (auto it = begin; it != end; ++it) out << it->second << '\n';
  }
}

}  // namespace stagecraft
