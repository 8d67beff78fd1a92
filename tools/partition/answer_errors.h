// The last look at a partition before anybody reads it.
#pragma once

#include <string>
#include <vector>

#include "tools/partition/partition_request.h"

namespace stagecraft {

// What no answer can be, a sentence each: figures below zero or that are no numbers, figures
// beyond what is proven, stages without nodes or devices. Empty where it may be shown.
std::vector<std::string> FindErrors(const PartitionAnswer& answer);

// Throws std::runtime_error with the first of them.
void RequireSound(const PartitionAnswer& answer);

}  // namespace stagecraft
