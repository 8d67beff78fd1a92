// The second half of a lowering: what data-parallel ranks exchange beside the
// passes, and what ends a step. Gradients are reduced, the norm is agreed on,
// the optimizer steps, sharded parameters are gathered.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

void AddUpdate(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
