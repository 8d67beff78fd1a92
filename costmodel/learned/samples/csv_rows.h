// CsvRows: a cursor over the rows of a table with a header line, fast enough for hundreds of
// thousands of rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/csv_records.h"
#include "costmodel/units.h"

namespace stagecraft {

// Reads the records of CsvRecords, each of which must have as many fields as the header; blank
// lines are skipped. Getters take the index of a column in the list given to Select(). Wrong values
// throw InputError: "gemm.csv:3: m: got "x", want a whole number from 1 to 1000".
class CsvRows {
 public:
  // Reads the header; refuses a column that occurs twice. `text` must outlive this object.
  CsvRows(std::string_view text, std::string name);

  const std::string& name() const { return records_.name(); }
  std::span<const std::string> header() const { return header_; }
  // Chooses the columns that the getters see; those that the header lacks are empty. The list must
  // outlive this object.
  void Select(std::span<const std::string_view> columns);

  // Goes on to the next row; returns false at the end.
  bool Next();
  // The line on which the row begins, counted from 1.
  int64_t line() const { return records_.line(); }

  std::string_view Text(int column) const {
    return positions_[column] < 0 ? std::string_view() : records_.fields()[positions_[column]];
  }
  bool IsEmpty(int column) const { return Text(column).empty(); }
  // Returns the text of a field, which must not be empty.
  std::string_view Word(int column) const;
  int64_t Integer(int column, int64_t least, int64_t most) const;
  double Number(int column, double least, double most) const;
  bool Flag(int column) const;  // "0" or "1"
  // Returns a time that the field has in `unit`s; it is at least a nanosecond.
  Duration Time(int column, Duration unit) const;
  [[noreturn]] void Fail(int column, std::string_view want) const;

 private:
  CsvRecords records_;
  std::vector<std::string> header_;
  std::span<const std::string_view> columns_;
  std::vector<int> positions_;
};

}  // namespace stagecraft
