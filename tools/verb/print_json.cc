#include "tools/verb/print_json.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns the shortest decimal that is read as the rounded number. That of nlohmann's library is
// sometimes a digit longer.
std::string NumberText(double number) {
  if (!std::isfinite(number)) return "null";
  const std::string digits = fmt::format("{:.{}e}", number, kJsonDigits - 1);
  double rounded = number;
  std::from_chars(digits.data(), digits.data() + digits.size(), rounded);
  std::string text = fmt::format("{}", rounded);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // not an integer
  return text;
}

void Print(const Json& value, int indent, std::string& text) {
  if (value.is_number_float()) {
    text += NumberText(value.get<double>());
  } else if (value.is_structured() && !value.empty()) {
    const std::string margin(static_cast<size_t>(indent) + 2, ' ');
    const char* before = value.is_object() ? "{\n" : "[\n";
    for (const auto& [key, child] : value.items()) {
      text += before + margin;
      if (value.is_object()) text += Text(key) + ": ";
      Print(child, indent + 2, text);
      before = ",\n";
    }
    text += "\n" + margin.substr(2) + (value.is_object() ? "}" : "]");
  } else {
    text += Text(value);
  }
}

}  // namespace

void PrintJson(const Json& report, std::ostream& out) {
  std::string text;
  Print(report, 0, text);
  out << text << '\n';
}

}  // namespace stagecraft
