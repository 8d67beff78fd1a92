// ErrorSection: the errors of the predictions of one quantity, as a section of an HTML page
// (validation_html.h): a chart, tables of groups of rows that filter it, and a list of rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/validation/error_table.h"

namespace stagecraft {

// kTime: of a training step; rates, from which it follows, count as times. kMemory: peak memory.
enum class Quantity { kTime, kMemory };

// The MAPE, in percent, from which on bars have full length.
inline constexpr double kWidestBar = 50;

// Returns no value for rows that measure neither: kernels, collectives, idle shares.
std::optional<Quantity> QuantityOf(const MeasuredRow& row);

// Returns "1 row" or "7 rows".
std::string RowCount(size_t rows);

// Returns the section. Precondition: all rows have predictions and are of this quantity.
std::string ErrorSection(const std::vector<const ValidatedRow*>& rows, Quantity quantity);

}  // namespace stagecraft
