// The last check of a partition before it is shown.
#pragma once

#include <string>
#include <vector>

#include "tools/partition/partition_request.h"

namespace stagecraft {

// Returns what is impossible about an answer, a sentence each: figures that are negative or not
// finite, figures beyond the proven bound, stages without nodes or devices. Empty if the answer may
// be shown.
std::vector<std::string> FindErrors(const PartitionAnswer& answer);

// Throws std::runtime_error with the first of these sentences, if there is one.
void RequireSound(const PartitionAnswer& answer);

}  // namespace stagecraft
