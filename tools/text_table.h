// TextTable: columns of text that line up.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace stagecraft {

class TextTable {
 public:
  // The first `left` columns stand left, numbers after them right.
  TextTable(std::vector<std::string> headings, size_t left) : left_(left) {
    lines_.push_back(std::move(headings));
  }

  // As many cells as there are headings.
  void Add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  void Print(std::ostream& out) const;

 private:
  size_t left_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace stagecraft
