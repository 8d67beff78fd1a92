// What the optimizer of one rank moves and launches.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// Returns how many parameters one rank updates. `parameters` are those of a stage on the rank,
// before they are divided among the `data_ranks` that hold the same ones.
int64_t UpdatedParameters(const Plan& plan, int stage, const ParameterCount& parameters,
                          int64_t data_ranks);

// Returns the update of one rank as an op. `parameters` are those of a stage on the rank, before
// their update is divided among the `data_ranks` that hold the same ones.
Op OptimizerOp(const Plan& plan, int stage, const ParameterCount& parameters, int64_t data_ranks);

}  // namespace stagecraft
