// TableFormat: the columns of one kind of table, and how to read a row.
#pragma once

#include <span>
#include <string_view>

#include "costmodel/learned/sample.h"
#include "costmodel/learned/samples/csv_rows.h"

namespace stagecraft {

struct TableFormat {
  const char* name;
  // The getters of CsvRows take indices into these.
  std::span<const std::string_view> columns;
  int required;    // the number of columns, from the first, that must be present
  bool is_closed;  // a column that is not listed is an error, not skipped
  // Fills in an empty sample; returns false if the row is no measurement. Throws InputError.
  bool (*read)(const CsvRows& row, Sample& sample);
};

// The upper bound of each size of an op.
inline constexpr int64_t kMaxSize = int64_t{1} << 40;

}  // namespace stagecraft
