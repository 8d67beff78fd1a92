// The two ways to answer a point of what-if: a given plan, or the best plan.
#pragma once

#include <atomic>
#include <memory>

#include "tools/whatif/what_if.h"

namespace stagecraft {

// Simulates the plan that the flags of a point describe, as `simulate` does.
std::unique_ptr<Answerer> SimulatingAnswerer();

// Searches the best plan for each point, as `search` does, and simulates it. A search ends early as
// soon as `stop` is true.
std::unique_ptr<Answerer> SearchingAnswerer(const std::atomic<bool>* stop);

}  // namespace stagecraft
