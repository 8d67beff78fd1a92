// What one rank's optimizer step moves and launches.
#pragma once

#include <cstdint>

#include "costmodel/op.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// Parameters that one rank updates, of `parameters` of a stage on it, before what
// `data_ranks` that hold the same ones share out.
int64_t UpdatedParameters(const Plan& plan, int stage, const ParameterCount& parameters,
                          int64_t data_ranks);

// `parameters` of a stage on one of its ranks, before what `data_ranks` that hold the
// same ones share out of their update.
Op OptimizerOp(const Plan& plan, int stage, const ParameterCount& parameters, int64_t data_ranks);

}  // namespace stagecraft
