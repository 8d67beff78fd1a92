// The fields of a table as they are written; CsvRows reads them back.
#pragma once

#include <cstdint>
#include <string>

namespace stagecraft {

// Returns the field for a text, in quotes if it would not be one field without them.
std::string CsvField(const std::string& text);

// Returns `value` / 10^digits, written exactly and without trailing zeros: 34660 ns in microseconds
// is Decimal(34660, 3), "34.66".
std::string Decimal(int64_t value, int digits);

}  // namespace stagecraft
