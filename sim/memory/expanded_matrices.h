// The dense matrices into which sparse ones are expanded for their products.
#pragma once

#include <vector>

#include "sim/memory/stage_memory.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Adds to the workspace of each stage the largest dense matrix that its products write: one of them
// exists at a time, and it counts as if it did at the peak. `schedule` says of every sparse product
// how it runs (WithFasterProducts()); `memory` is by stage. Returns whether there are any.
bool AddExpandedMatrices(const Schedule& schedule, std::vector<StageMemory>& memory);

}  // namespace stagecraft
