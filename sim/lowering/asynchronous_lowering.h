// Adds what the replicas of asynchronous pipelines exchange after their backwards: each update
// waits until its gradients are reduced, and sharded parameters are gathered before they are used.
// The updates themselves are already among the passes.
#pragma once

#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"

namespace stagecraft {

void AddAsynchronousUpdates(LoweringContext& context, const LoweredPasses& passes);

}  // namespace stagecraft
