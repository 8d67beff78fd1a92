// TextTable: rows of text whose columns line up under their headings.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stagecraft {

class TextTable {
 public:
  // The first `left` columns are aligned left; the columns after them, usually numbers, right.
  TextTable(std::vector<std::string> headings, size_t left)
      : TextTable(std::move(headings), std::vector<bool>(left, true)) {}
  // `stands_left` says which columns are aligned left; columns beyond its end are aligned right.
  TextTable(std::vector<std::string> headings, std::vector<bool> stands_left)
      : stands_left_(std::move(stands_left)) {
    stands_left_.resize(headings.size());
    lines_.push_back(std::move(headings));
  }

  // Adds a row. Precondition: it has as many cells as there are headings.
  void Add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  // Adds a line after the latest row that is printed as it is.
  void AddText(std::string line) { texts_.emplace(lines_.size() - 1, std::move(line)); }
  void Print(std::ostream& out) const;

 private:
  std::vector<bool> stands_left_;
  std::vector<std::vector<std::string>> lines_;
  std::multimap<size_t, std::string> texts_;  // by the index of the line that they follow
};

}  // namespace stagecraft
