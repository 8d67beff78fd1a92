// The form in which every verb prints JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

namespace stagecraft {

// Significant digits of a number that is not an integer: more than the accuracy of any result, but
// few enough that rounding errors of sums and products do not show.
inline constexpr int kJsonDigits = 12;

// Prints one object and a line break. Numbers are rounded to kJsonDigits and printed with no more
// digits than they need; bytes of text that are not UTF-8 are replaced; numbers that are not finite
// become null.
void PrintJson(const nlohmann::ordered_json& report, std::ostream& out);

}  // namespace stagecraft
