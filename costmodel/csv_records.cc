#include "costmodel/csv_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

CsvRecords::CsvRecords(std::string_view text, std::string name, std::string_view before_line)
    : text_(text), name_(std::move(name)), before_line_(before_line) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // byte order mark
}

std::string CsvRecords::Place() const { return fmt::format("{}{}{}", name_, before_line_, line_); }

bool CsvRecords::Next() {
  fields_.clear();
  unescaped_.clear();
  if (at_ >= text_.size()) return false;
  line_ = next_line_++;
  while (true) {
    if (at_ < text_.size() && text_[at_] == '"') {
      ReadQuoted();
    } else {
      ReadPlain();
    }
    if (at_ >= text_.size() || text_[at_++] == '\n') return true;
  }
}

// Leaves `at_` on the comma or line feed after the field, as ReadQuoted() does.
void CsvRecords::ReadPlain() {
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
  size_t end = at_;
  if (end > begin && text_[end - 1] == '\r' && (end == text_.size() || text_[end] == '\n')) --end;
  fields_.push_back(text_.substr(begin, end - begin));
}

void CsvRecords::ReadQuoted() {
  const size_t begin = ++at_;
  bool has_quotes = false;
  while (true) {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos) {
      throw InputError(Place() + ": got an opening quote without a closing one, want both");
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
    throw InputError(Place() + ": got text after a closing quote, want a comma");
  }
}

}  // namespace stagecraft
