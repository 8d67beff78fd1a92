// MeasuredHistory: makes the history of a training run of what its processes logged.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "runtime/run_log.h"
#include "sim/job/history.h"

namespace stagecraft {

// From one start of all processes to their end. Times are on one clock.
struct ProcessesLife {
  Duration started, ended;    // as the launcher sees it
  std::vector<LogEntry> log;  // in order of time
};

// What a life says about the time before its first step.
Duration RestartTime(const ProcessesLife& life);  // until all processes run
Duration ReloadTime(const ProcessesLife& life);   // zero if nothing was read

// Returns the median time of the checkpoints in the log; zero if there are none.
Duration MedianSaveTime(const std::vector<LogEntry>& log);

// Returns the history of a run on `devices`, which begins with the first step of the first life.
// Every life but the last one ended with the death of a rank. Steps that are not logged when a rank
// dies are complete if its last entry says so.
History MeasuredHistory(const std::vector<ProcessesLife>& lives, int devices);

}  // namespace stagecraft
