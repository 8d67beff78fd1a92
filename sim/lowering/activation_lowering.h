// Activations that wait for their backward with the host: the copies beside the passes.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

// Of every rank and OffloadedPass a task on the port's lane of each direction. Copied is
// the plan's share of what memory/rank_tensors.h says a forward saves, of a framework
// that is described by nothing else.
void AddActivationCopies(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
