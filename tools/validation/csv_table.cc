#include "tools/validation/csv_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Reads one record after another.
class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // byte order mark
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  int line() const { return line_; }

  std::vector<std::string> Record() {
    std::vector<std::string> fields;
    while (true) {
      fields.push_back(Field());
      if (AtEnd() || text_[at_] != ',') break;
      ++at_;
    }
    if (!AtEnd() && text_[at_] == '\r') ++at_;
    if (!AtEnd() && text_[at_] != '\n') {
      throw InputError(
          fmt::format("{}: line {}: got text after a closing quote, want a comma", name_, line_));
    }
    if (!AtEnd()) ++at_;
    ++line_;
    return fields;
  }

 private:
  std::string Field() {
    if (!AtEnd() && text_[at_] == '"') return Quoted();
    const size_t begin = at_;
    while (!AtEnd() && text_[at_] != ',' && text_[at_] != '\n') ++at_;
    size_t end = at_;
    if (end > begin && text_[end - 1] == '\r') --end;
    return text_.substr(begin, end - begin);
  }

  std::string Quoted() {
    const int first_line = line_;
    std::string field;
    for (++at_; !AtEnd(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[++at_];
      } else {
        ++at_;
        return field;
      }
    }
    throw InputError(fmt::format("{}: line {}: got a quote that never closes, want a second one",
                                 name_, first_line));
  }

  const std::string& text_;
  const std::string& name_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

CsvTable CsvTable::Parse(const std::string& text, const std::string& name) {
  Reader reader(text, name);
  if (reader.AtEnd()) throw InputError(name + ": got an empty file, want a header line");
  CsvTable table;
  table.name_ = name;
  table.header_ = reader.Record();
  for (size_t i = 0; i < table.header_.size(); ++i) {
    if (std::count(table.header_.begin(), table.header_.end(), table.header_[i]) > 1) {
      throw InputError(
          fmt::format("{}: column \"{}\": got it twice, want it once", name, table.header_[i]));
    }
  }
  while (!reader.AtEnd()) {
    const int line = reader.line();
    std::vector<std::string> fields = reader.Record();
    if (fields.size() == 1 && fields[0].empty()) continue;  // a blank line
    if (fields.size() != table.header_.size()) {
      throw InputError(fmt::format("{}: line {}: got {} fields, want {} as in the header", name,
                                   line, fields.size(), table.header_.size()));
    }
    table.rows_.push_back(std::move(fields));
    table.lines_.push_back(line);
  }
  return table;
}

int CsvTable::Column(const std::string& column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  return found == header_.end() ? -1 : static_cast<int>(found - header_.begin());
}

}  // namespace stagecraft
