// Numbers with a comma before every three digits of their whole part: "-1,234", "12,345.6".
#pragma once

#include <string>

namespace stagecraft {

// Returns the same decimal number with commas.
std::string WithCommas(std::string number);
// Returns the number with this many decimals.
std::string WithCommas(double number, int decimals);

// Returns four digits, or a whole number with commas if it has more: "40.31", "247,603".
std::string AmountText(double amount);

}  // namespace stagecraft
