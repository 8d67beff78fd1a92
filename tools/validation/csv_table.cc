#include "tools/validation/csv_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/csv_records.h"

namespace stagecraft {
CsvTable CsvTable::Parse(const std::string& text, const std::string& name) {
  CsvRecords records(text, name, ": line ");
  if (!records.Next()) throw InputError(name + ": got an empty file, want a header line");
  CsvTable table;
  table.name_ = name;
  table.header_.assign(records.fields().begin(), records.fields().end());
  for (const std::string& column : table.header_) {
    if (std::count(table.header_.begin(), table.header_.end(), column) > 1) {
      throw InputError(fmt::format("{}: column \"{}\": got it twice, want it once", name, column));
    }
  }
  while (records.Next()) {
    if (records.is_blank()) continue;
    const std::span<const std::string_view> fields = records.fields();
    if (fields.size() != table.header_.size()) {
      throw InputError(fmt::format("{}: got {} fields, want {} as in the header", records.Place(),
                                   fields.size(), table.header_.size()));
    }
    table.rows_.emplace_back(fields.begin(), fields.end());
    table.lines_.push_back(static_cast<int>(records.line()));
  }
  return table;
}

int CsvTable::Column(const std::string& column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  return found == header_.end() ? -1 : static_cast<int>(found - header_.begin());
}

}  // namespace stagecraft
