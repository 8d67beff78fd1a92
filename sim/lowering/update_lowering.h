// The second half of a lowering: what data-parallel ranks exchange beside the passes, and the end
// of a step. Gradients are reduced, all ranks agree on the gradient norm, the optimizer steps, and
// sharded parameters are gathered.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

void AddUpdate(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
