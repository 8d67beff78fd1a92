#include "costmodel/learned/samples/csv_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {
CsvRows::CsvRows(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // byte order mark
  if (text_.find_first_not_of(" \t\r\n", at_) == std::string_view::npos) {
    throw InputError(name_ + ": got an empty file, want a table with a header line");
  }
  ReadRecord();
  for (const std::string_view column : fields_) {
    if (std::count(fields_.begin(), fields_.end(), column) > 1) {
      throw InputError(
          fmt::format("{}:1: column \"{}\": got it twice, want it once", name_, column));
    }
  }
  header_ = std::exchange(fields_, {});
}

void CsvRows::Select(std::span<const std::string_view> columns) {
  columns_ = columns;
  positions_.clear();
  for (const std::string_view column : columns) {
    const auto found = std::find(header_.begin(), header_.end(), column);
    positions_.push_back(found == header_.end() ? -1 : static_cast<int>(found - header_.begin()));
  }
}

bool CsvRows::Next() {
  do {
    if (at_ >= text_.size()) return false;
    unescaped_.clear();
    ReadRecord();
  } while (fields_.size() == 1 && fields_[0].empty());
  if (fields_.size() == header_.size()) return true;
  throw InputError(fmt::format("{}:{}: got {} fields, want {} as in the header", name_, line_,
                               fields_.size(), header_.size()));
}

void CsvRows::ReadRecord() {
  fields_.clear();
  line_ = next_line_++;
  while (true) {
    if (at_ < text_.size() && text_[at_] == '"') {
      ReadQuoted();
    } else {
      const size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
      size_t end = at_;
      if (end > begin && text_[end - 1] == '\r' && (end == text_.size() || text_[end] == '\n')) {
        --end;
      }
      fields_.push_back(text_.substr(begin, end - begin));
    }
    if (at_ >= text_.size() || text_[at_++] == '\n') return;
  }
}

// Leaves `at_` on the comma or line feed after the field.
void CsvRows::ReadQuoted() {
  const size_t begin = ++at_;
  bool has_quotes = false;
  while (true) {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos) {
      throw InputError(
          fmt::format("{}:{}: got a quote that never closes, want a second one", name_, line_));
    }
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
    has_quotes = true;
    at_ += 2;
  }
  std::string_view field = text_.substr(begin, at_ - begin);
  next_line_ += std::count(field.begin(), field.end(), '\n');
  if (has_quotes) {
    std::string& plain = unescaped_.emplace_back();
    for (size_t i = 0; i < field.size(); ++i) {
      plain += field[i];
      if (field[i] == '"') ++i;
    }
    field = plain;
  }
  fields_.push_back(field);
  ++at_;
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
    throw InputError(
        fmt::format("{}:{}: got text after a closing quote, want a comma", name_, line_));
  }
}

void CsvRows::Fail(int column, std::string_view want) const {
  throw InputError(fmt::format("{}:{}: {}: got \"{}\", want {}", name_, line_, columns_[column],
                               Text(column), want));
}

std::string_view CsvRows::Word(int column) const {
  if (IsEmpty(column)) Fail(column, "a name");
  return Text(column);
}

int64_t CsvRows::Integer(int column, int64_t least, int64_t most) const {
  const std::string_view text = Text(column);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    Fail(column, fmt::format("a whole number from {} to {}", least, most));
  }
  return value;
}

double CsvRows::Number(int column, double least, double most) const {
  const std::string_view text = Text(column);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that NaN fails.
  const bool is_inside = value >= least && value <= most;
  if (error != std::errc() || end != text.data() + text.size() || !is_inside) {
    Fail(column, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return value;
}

bool CsvRows::Flag(int column) const {
  const std::string_view text = Text(column);
  if (text != "0" && text != "1") Fail(column, "0 or 1");
  return text == "1";
}

Duration CsvRows::Time(int column, Duration unit) const {
  const double unit_ns = static_cast<double>(unit.ns());
  const double value =
      Number(column, 1 / unit_ns, static_cast<double>(kLongestSample.ns()) / unit_ns);
  return Duration::Nanoseconds(std::llround(value * unit_ns));
}

}  // namespace stagecraft
