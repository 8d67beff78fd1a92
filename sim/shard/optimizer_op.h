// What the optimizer of one rank moves and launches.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// How many parameters one rank updates. `parameters` are those of a stage on the rank, before the
// `data_ranks` that hold the same ones share them.
int64_t UpdatedParameters(const Plan& plan, int stage, const ParameterCount& parameters,
                          int64_t data_ranks);

// `parameters` are those of a stage on one of its ranks, before the `data_ranks` that hold the same
// ones share their update.
Op OptimizerOp(const Plan& plan, int stage, const ParameterCount& parameters, int64_t data_ranks);

}  // namespace stagecraft
