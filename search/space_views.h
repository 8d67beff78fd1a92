// Other ways to see the plans of a space.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "search/plan_space.h"

namespace stagecraft {

// The same plans; every bound is computed once. `space` outlives it. 24 bytes a plan.
std::unique_ptr<PlanSpace> RememberBounds(PlanSpace& space);

// Some of the plans, numbered anew in the order of `indices`. `space` outlives it.
std::unique_ptr<PlanSpace> SomeOf(PlanSpace& space, std::vector<size_t> indices);

}  // namespace stagecraft
