#include "costmodel/learned/samples/csv_field.h"

#include <fmt/core.h>

namespace stagecraft {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

std::string Decimal(int64_t value, int digits) {
  int64_t unit = 1;
  for (int digit = 0; digit < digits; ++digit) unit *= 10;
  std::string text = fmt::format("{}.{:0{}}", value / unit, value % unit, digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace stagecraft
