// WithCommas(): a number in groups of three digits.
#pragma once

#include <string>

namespace stagecraft {

// Returns the decimal number with a comma before every three digits of its whole part: "-1,234",
// "12,345.6".
std::string WithCommas(std::string number);

}  // namespace stagecraft
