// Prints explanations as text, about 100 characters wide.
#pragma once

#include <iosfwd>

#include "tools/report/explanation.h"

namespace stagecraft {

void PrintExplanation(const Explanation& explanation, std::ostream& out);

}  // namespace stagecraft
