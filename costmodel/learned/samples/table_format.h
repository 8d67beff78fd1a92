// TableFormat: what the columns of one kind of table are, and what a row means.
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
  int required;    // how many of the first ones; the others may be missing
  bool is_closed;  // a column that is not listed is an error, not skipped
  // Fills in an empty sample; false if the row is no measurement. Throws InputError.
  bool (*read)(const CsvRows& row, Sample& sample);
};

// The upper bound of each size of an op.
inline constexpr int64_t kMaxSize = int64_t{1} << 40;

}  // namespace stagecraft
