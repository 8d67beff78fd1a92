// CsvTable: a file of comma-separated values with a header line.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Records of CsvRecords. Every row has as many fields as the header; blank lines
// are passed over.
class CsvTable {
 public:
  // `name` opens every error. Throws InputError for an empty text, a column given twice, a quote
  // that is never closed and a row of another length.
  static CsvTable Parse(const std::string& text, const std::string& name);

  const std::string& name() const { return name_; }
  int row_count() const { return static_cast<int>(rows_.size()); }
  // The line of the file on which a row begins, counted from 1.
  int line(int row) const { return lines_[row]; }
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
