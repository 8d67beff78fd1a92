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

// Reads the format of RFC 4180: fields may be quoted, quotes inside a quoted field are doubled, a
// quoted field may contain line breaks, and lines end in LF or CRLF. A byte order mark at the
// beginning is skipped. A header is a record like any other. Throws InputError for a quote that
// never closes and for text after a closing quote: "gemm.csv:3: got a quote that never closes, want
// a second one". Fast enough for hundreds of thousands of records: only fields with doubled quotes
// are copied.
class CsvRecords {
 public:
  // `text` must outlive this object. In errors, `before_line` stands between the name and the
  // number of the line.
  CsvRecords(std::string_view text, std::string name, std::string_view before_line = ":");

  const std::string& name() const { return name_; }
  // The part of the text from which no record has been read yet.
  std::string_view rest() const { return text_.substr(at_); }

  // Goes on to the next record; returns false at the end of the text. A blank line is a record of
  // one empty field.
  bool Next();
  // The fields of the current record, which are valid until the next call of Next().
  std::span<const std::string_view> fields() const { return fields_; }
  bool is_blank() const { return fields_.size() == 1 && fields_[0].empty(); }
  // The line on which the current record begins, counted from 1.
  int64_t line() const { return line_; }
  // The name and that line, for errors: "gemm.csv:3".
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
  std::deque<std::string> unescaped_;  // fields of the current record that contained ""
};

}  // namespace stagecraft
