// Plans of pipelines that never flush (IsAsynchronous(plan.schedule)): the pipeline schedule that
// each replica runs, and how much of it is simulated.
//
// A training step is one global batch: with pipedream one mini-batch (Plan::micro_batch samples)
// for each replica of the widest stage, with pipedream-2bw the micro-batches of one batch.
#pragma once

#include "sim/pipeline/asynchronous.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What is simulated in place of one step.
Stretch StretchOf(const Plan& plan);

// The schedule of as many micro-batches as are simulated.
EndlessOrder EndlessOrderOf(const Plan& plan, const Workload& workload, int stage, int replica);

// How many versions of the weights the replicas of a stage keep, and how late their gradients are.
StageAsynchrony AsynchronyOf(const Plan& plan, const Workload& workload, int stage);

// How many samples' gradients make one update of a stage's weights.
int64_t SamplesPerUpdate(const Plan& plan, int stage);

}  // namespace stagecraft
