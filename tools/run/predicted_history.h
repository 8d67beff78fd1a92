// What a run on slow ranks, with checkpoints and kills, is predicted to take.
#pragma once

#include <span>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/job/history.h"
#include "sim/schedule/schedule.h"
#include "tools/run/measured_run.h"
#include "tools/run/run_request.h"

namespace stagecraft {

// Simulates a step of the schedule, which must not be folded, on a cluster whose rank r computes at
// speeds[r] of its speed: its ops take longer, but not collectives among them. No speeds: all ranks
// are as fast as the cluster says.
Duration PredictStep(const Schedule& schedule, const Cluster& cluster, const CostModel& model,
                     std::span<const double> speeds);

// Simulates what a run did from its first step on, from what was known before that: the costs, and
// a predicted step. Failures are where they were asked for.
History PredictHistory(const MeasuredRunRequest& request, const MeasuredRun& run, Duration step,
                       const Schedule& schedule, const Cluster& cluster);

}  // namespace stagecraft
