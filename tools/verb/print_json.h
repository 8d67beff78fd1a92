// JSON as every verb prints it.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

namespace stagecraft {

// Significant digits of a number that is no integer: more than anything is known to, few enough
// that what a sum or a product rounds off is not seen.
inline constexpr int kJsonDigits = 12;

// One object and the end of a line. Numbers are rounded to kJsonDigits and take no more of them
// than they need; text that is not UTF-8 is mended; what is no finite number is null.
void PrintJson(const nlohmann::ordered_json& report, std::ostream& out);

}  // namespace stagecraft
