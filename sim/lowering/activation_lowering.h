// Adds the copies of activations that stay in host memory until their backward; they run beside the
// passes.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/memory/framework_memory.h"

namespace stagecraft {

// Adds, for every rank and every OffloadedPass, a task on the lane of each direction to the host.
// The tasks copy the plan's share of what a forward saves according to memory/rank_tensors.h.
void AddActivationCopies(LoweringContext& context, const LoweredPasses& passes,
                         const FrameworkMemory& framework);

}  // namespace stagecraft
