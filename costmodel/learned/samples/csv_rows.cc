#include "costmodel/learned/samples/csv_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/sample.h"
#include "costmodel/text.h"

namespace stagecraft {

CsvRows::CsvRows(std::string_view text, std::string name) : records_(text, std::move(name)) {
  if (records_.rest().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(records_.name() + ": got an empty file, want a table with a header line");
  }
  records_.Next();
  header_.assign(records_.fields().begin(), records_.fields().end());
  for (const std::string& column : header_) {
    if (std::count(header_.begin(), header_.end(), column) > 1) {
      throw InputError(
          fmt::format("{}: column \"{}\": got it twice, want it once", records_.Place(), column));
    }
  }
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
    if (!records_.Next()) return false;
  } while (records_.is_blank());
  const size_t count = records_.fields().size();
  if (count == header_.size()) return true;
  throw InputError(fmt::format("{}: got {} fields, want {} as in the header", records_.Place(),
                               count, header_.size()));
}

void CsvRows::Fail(int column, std::string_view want) const {
  throw InputError(fmt::format("{}: {}: got \"{}\", want {}", records_.Place(), columns_[column],
                               Text(column), want));
}

std::string_view CsvRows::Word(int column) const {
  if (IsEmpty(column)) Fail(column, "a name");
  return Text(column);
}

int64_t CsvRows::Integer(int column, int64_t least, int64_t most) const {
  const std::optional<int64_t> value = ParseNumber<int64_t>(Text(column));
  if (!value || *value < least || *value > most) {
    Fail(column, fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

double CsvRows::Number(int column, double least, double most) const {
  const std::optional<double> value = ParseNumber<double>(Text(column));
  // Written so that NaN fails.
  const bool is_inside = value && *value >= least && *value <= most;
  if (!is_inside) Fail(column, fmt::format("a number from {:g} to {:g}", least, most));
  return *value;
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
