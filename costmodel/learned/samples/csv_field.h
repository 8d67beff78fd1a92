// One field of a table as it is written; CsvRows reads it back.
#pragma once

#include <cstdint>
#include <string>

namespace stagecraft {

// In quotes if the text would not be one field without them.
std::string CsvField(const std::string& text);

// `value` / 10^digits, written exactly and without trailing zeros: 34660 ns in microseconds is
// Decimal(34660, 3), "34.66".
std::string Decimal(int64_t value, int digits);

}  // namespace stagecraft
