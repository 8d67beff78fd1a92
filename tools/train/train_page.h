// The page of a training run: charts of its time, offline in one file.
#pragma once

#include <string>

#include "tools/flags/planned_job.h"
#include "tools/train/train_flags.h"
#include "tools/train/train_report.h"

namespace stagecraft {

// Returns an HTML page with the step time, the idle share and the devices at work over the time of
// the run, marks where something happened, and a table of the time that was lost by cause. There is
// a history.
std::string TrainPage(const PlannedJob& job, const TrainRequest& request,
                      const TrainAnswer& answer);

}  // namespace stagecraft
