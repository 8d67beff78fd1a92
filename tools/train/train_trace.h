// The history of a training run as a trace.
#pragma once

#include "tools/flags/planned_job.h"
#include "tools/trace/trace_view.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"

namespace stagecraft {

// Returns a view with the phases of the run as slices of one track, and counters for the step time
// (ns), the idle share of the pipeline (per mille) and the devices at work; while no step is
// computed these are 0, 1000 and 0. Precondition: the answer has a history. Linear in its phases.
TraceView TrainTrace(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer);

}  // namespace stagecraft
