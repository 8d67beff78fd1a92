// The page of a training run: charts of its time, offline in one file.
#pragma once

#include <string>

#include "tools/flags/planned_job.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"

namespace stagecraft {

// Returns an HTML page with the step time, the idle share, the devices at work and the layers of
// the stages over the time of the run, with marks where something happens (train_marks.h), with the
// time that was lost by cause, and with tables of the marks and of the states of the network.
// Precondition: the answer has a history.
std::string TrainPage(const PlannedJob& job, const TrainRequest& request,
                      const TrainAnswer& answer);

}  // namespace stagecraft
