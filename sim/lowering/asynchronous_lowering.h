// What the replicas of asynchronous pipelines exchange behind their backwards: each
// update waits for its gradients to be reduced, and sharded parameters are gathered
// before they are used. The updates themselves stand among the passes.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

void AddAsynchronousUpdates(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
