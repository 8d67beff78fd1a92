#include "tools/report/catalogue_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 120;

// The text of a value; "-" for zero, which means that the hardware lacks it.
std::string Cell(const Json& value, double unit) {
  if (value.is_string()) return value.get<std::string>();
  const double number = value.get<double>();
  if (number == 0) return "-";
  return unit == 0 ? fmt::format("{}", number) : fmt::format("{:.5g}", number / unit);
}

// Breaks `text` at spaces into lines of at most `most` characters; a longer word has its own line.
std::vector<std::string> LinesOf(const std::string& text, size_t most) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > most) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

// Adds as many rows as the cell with the most lines has.
void AddRow(const std::vector<std::vector<std::string>>& cells, TextTable& table) {
  size_t lines = 1;
  for (const std::vector<std::string>& cell : cells) lines = std::max(lines, cell.size());
  for (size_t line = 0; line < lines; ++line) {
    std::vector<std::string> row;
    for (const std::vector<std::string>& cell : cells) {
      row.push_back(line < cell.size() ? cell[line] : "");
    }
    table.Add(std::move(row));
  }
}

TextTable MakeTable(const Listing& list) {
  std::vector<bool> stands_left;
  std::vector<std::string> first, second;
  for (const Column& column : list.columns) {
    const std::string heading = column.heading;
    const size_t end = heading.find('\n');
    first.push_back(heading.substr(0, end));
    second.push_back(end == std::string::npos ? "" : heading.substr(end + 1));
    stands_left.push_back(list.rows.empty() || !list.rows[0][column.key].is_number());
  }
  TextTable table(std::move(first), std::move(stands_left));
  const bool has_two = std::any_of(second.begin(), second.end(),
                                   [](const std::string& heading) { return !heading.empty(); });
  if (has_two) table.Add(std::move(second));
  return table;
}

}  // namespace

void PrintListing(const Listing& list, std::ostream& out) {
  const std::string indent(4, ' ');
  TextTable table = MakeTable(list);
  for (const Json& row : list.rows) {
    std::vector<std::vector<std::string>> cells;
    for (const Column& column : list.columns) {
      const std::string cell = Cell(row[column.key], column.unit);
      cells.push_back(column.most == 0 ? std::vector{cell} : LinesOf(cell, column.most));
    }
    AddRow(cells, table);
    const std::string below = list.below == nullptr ? "" : list.below(row);
    if (below.empty()) continue;
    for (const std::string& line : LinesOf(below, kWidth - indent.size())) {
      table.AddText(indent + line);
    }
  }
  table.Print(out);
}

}  // namespace stagecraft
