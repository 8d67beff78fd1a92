// CsvRecords: comma-separated values, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// RFC 4180: fields may be quoted, quotes inside are doubled, a quoted field may hold line breaks,
// lines end in LF or CRLF. A byte order mark at the beginning is passed over. A header is a record
// as any other. Throws InputError for a quote that never closes and for text behind one that does:
// "gemm.csv:3: got a quote that never closes, want a second one". Fast enough for hundreds of
// thousands of records: what needs no unquoting is not copied.
class CsvRecords {
 public:
  // `text` outlives this. `before_line` stands between the name and the number of a line wherever
  // an error says where it is.
  CsvRecords(std::string_view text, std::string name, std::string_view before_line = ":");

  const std::string& name() const { return name_; }
  // What no record has been read of yet.
  std::string_view rest() const { return text_.substr(at_); }

  // On to the next record; false at the end. A blank line is a record of one empty field.
  bool Next();
  // Of this record, until the next call of Next().
  std::span<const std::string_view> fields() const { return fields_; }
  bool is_blank() const { return fields_.size() == 1 && fields_[0].empty(); }
  // On which this record begins, counted from 1.
  int64_t line() const { return line_; }
  // Name and line: "gemm.csv:3".
  std::string Place() const;

 private:
  void ReadPlain();
  void ReadQuoted();

  std::string_view text_;
  std::string name_;
  std::string_view before_line_;
  size_t at_ = 0;
  int64_t next_line_ = 1;
  int64_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields of this record that held ""
};

}  // namespace stagecraft
