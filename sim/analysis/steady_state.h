// SteadyState: what a pipeline that never flushes does once its start no longer matters, measured
// on the timeline of a stretch of its schedule (asynchronous_plan.h).
#pragma once

#include <vector>

#include "sim/analysis/breakdown.h"
#include "sim/engine/bound_costs.h"
#include "sim/pipeline/asynchronous.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct SteadyState {
  Stretch stretch;
  // The profile of the rank that idles least, from the end of one backward to the end of another,
  // scaled from the micro-batches that passed meanwhile to those of a global batch.
  StepProfile step;
  // The time of the second half of these micro-batches over that of the first half, less 1; 0 if
  // the steady state was reached.
  double drift = 0;
  std::vector<StageAsynchrony> stages;

  Duration StepTime() const { return step.breakdown.Total(); }
};

// Measures a `schedule` that Lower() made of a plan with IsAsynchronous(plan.order), with its
// optimizer.
SteadyState MeasureSteadyState(const Plan& plan, const Workload& workload, const Schedule& schedule,
                               const Timeline& timeline, const BoundCosts& costs);

}  // namespace stagecraft
