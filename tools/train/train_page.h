// The page of a training run: charts of its time, offline in one file.
#pragma once

#include <string>

#include "tools/train/shown_run.h"

namespace stagecraft {

// Returns an HTML page with the step time, the idle share, the devices at work and the layers of
// the stages over the time of the run, with marks where something happens (train_marks.h), with the
// time that was lost by cause, and with tables of the marks and of the states of the network.
std::string TrainPage(const ShownRun& run);

}  // namespace stagecraft
