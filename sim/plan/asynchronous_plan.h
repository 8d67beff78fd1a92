// Plans of pipelines that never flush (IsAsynchronous(plan.order)): the order that each
// replica runs, and how much of it is simulated.
//
// A step is one global batch: with pipedream a mini-batch (Plan::micro_batch samples) for
// each replica of the widest stage, with pipedream-2bw the micro-batches of one batch.
#pragma once

#include "sim/pipeline/asynchronous.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Simulated in place of one step.
Stretch StretchOf(const Plan& plan);

// Of as many micro-batches as are simulated.
EndlessOrder EndlessOrderOf(const Plan& plan, const Workload& workload, int stage, int replica);

// What the replicas of a stage keep, and how late their gradients are.
StageAsynchrony AsynchronyOf(const Plan& plan, const Workload& workload, int stage);

// Samples whose gradients make one update of a stage's weights.
int64_t SamplesPerUpdate(const Plan& plan, int stage);

}  // namespace stagecraft
