// Why a change makes a step longer or shorter, or does not, in a sentence.
#pragma once

#include <string>

#include "tools/whatif/change.h"
#include "tools/whatif/what_if.h"

namespace stagecraft {

// Returns which parts of the step grew and shrank, what it now waits for most, and whether it still
// fits; or "no change: ..." with the reason if the step takes as long as before.
std::string WhyOfChange(const WhatIfRow& base, const WhatIfRow& row, const Change& change);

// Returns whether two changes together do more or less than one after the other: step times
// multiply if they are independent.
std::string WhyOfPair(const WhatIfRow& base, const WhatIfRow& first, const WhatIfRow& second,
                      const WhatIfRow& row);

}  // namespace stagecraft
