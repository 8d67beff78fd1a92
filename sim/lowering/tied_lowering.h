// Keeps the copies of a tensor that several stages hold alike: an embedding, a head, heads of
// exits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/plan/tied_stages.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Returns the workers of an instance that belong to one of the stages, ascending.
std::vector<size_t> TiedWorkers(std::span<const int> stages, int instance,
                                const LoweredPasses& passes);

// Adds the reduction of the gradients that the trained stages make and returns its tasks, one for
// each rank of the first of `workers`, which TiedWorkers() returned for them.
std::vector<TaskId> AddTiedReduction(LoweringContext& context, const LoweredPasses& passes,
                                     const TiedStages& tied, std::span<const size_t> workers,
                                     std::span<const TaskId> after);

// Sends to the stages that only hold copies what the last of the trained ones has updated; each of
// its ranks sends one of `shares` equal parts.
void AddTiedBroadcast(LoweringContext& context, const LoweredPasses& passes, const TiedStages& tied,
                      int instance, int64_t shares, std::span<const TaskId> after);

}  // namespace stagecraft
