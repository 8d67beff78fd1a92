// The page of many histories of a training run: how they spread, offline in one file.
#pragma once

#include <string>

#include "tools/flags/planned_job.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"

namespace stagecraft {

// Returns an HTML page with the time to finish and the GPU-hours that were lost by cause, as means
// and quantiles over the histories. Precondition: the answer has a summary.
std::string RunsPage(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer);

}  // namespace stagecraft
