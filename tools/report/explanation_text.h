// Explanations for people, about 100 columns wide.
#pragma once

#include <iosfwd>

#include "tools/report/explanation.h"

namespace stagecraft {

void PrintExplanation(const Explanation& explanation, std::ostream& out);

}  // namespace stagecraft
