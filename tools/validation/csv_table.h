// CsvTable: a file of comma-separated values with a header line.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Its records are those of CsvRecords. Every row has as many fields as the header; blank lines are
// skipped.
class CsvTable {
 public:
  // Throws an InputError that begins with `name` for an empty text, a column given twice, a quote
  // that is never closed, and a row that is shorter or longer than the header.
  static CsvTable Parse(const std::string& text, const std::string& name);

  const std::string& name() const { return name_; }
  int row_count() const { return static_cast<int>(rows_.size()); }
  // The line of the file on which a row begins, counted from 1.
  int line(int row) const { return lines_[row]; }
  int column_count() const { return static_cast<int>(header_.size()); }
  const std::string& column(int column) const { return header_[column]; }
  // The index of a column; -1 if there is none.
  int Column(const std::string& column) const;
  const std::string& field(int row, int column) const { return rows_[row][column]; }

 private:
  std::string name_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;
};

}  // namespace stagecraft
