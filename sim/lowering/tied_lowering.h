// Embedding and head on different stages that are one tensor add up their gradients.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/plan/tied_stages.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// The workers of an instance that hold the tensor.
std::vector<size_t> TiedWorkers(const TiedStages& tied, int instance, const LoweredPasses& passes);

// Their reduction, one task for each rank of the first of `workers`, which TiedWorkers() named.
std::vector<TaskId> AddTiedReduction(LoweringContext& context, const LoweredPasses& passes,
                                     const TiedStages& tied, std::span<const size_t> workers,
                                     std::span<const TaskId> after);

}  // namespace stagecraft
