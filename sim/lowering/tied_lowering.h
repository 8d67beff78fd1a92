// Adds up the gradients of an embedding and a head on different stages that are one tensor.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/plan/tied_stages.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Returns the workers of an instance that hold the tensor.
std::vector<size_t> TiedWorkers(const TiedStages& tied, int instance, const LoweredPasses& passes);

// Adds their reduction and returns its tasks, one for each rank of the first of `workers`, which
// TiedWorkers() returned.
std::vector<TaskId> AddTiedReduction(LoweringContext& context, const LoweredPasses& passes,
                                     const TiedStages& tied, std::span<const size_t> workers,
                                     std::span<const TaskId> after);

}  // namespace stagecraft
