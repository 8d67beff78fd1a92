// How much memory a pass order makes a stage hold.
#pragma once

#include <cstdint>
#include <span>

#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Returns the most that the stage holds at any time, in the unit of `memory`, which says by chunk
// what one micro-batch holds. A pass takes what it adds when it begins, and gives back what it
// frees when it ends.
int64_t PeakMemory(const PassOrder& order, std::span<const PassMemory> memory);

}  // namespace stagecraft
