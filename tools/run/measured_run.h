// MeasureRun: a training run of processes on this host, which are killed and start again.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/job/history.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/run/run_request.h"

namespace stagecraft {

// What interruptions and checkpoints cost, as measured before the first step.
struct RunCosts {
  Duration detection;  // from a death until all processes have ended; zero without kills
  Duration restart;    // until all processes run again
  Duration reload;     // of a checkpoint
  Duration write;      // of a checkpoint
  Bytes checkpoint;    // of all ranks; zero without checkpoints, as the two above
};

struct MeasuredRun {
  int64_t first_step = 0;       // steps that were complete before
  std::vector<RankKill> kills;  // those that happened
  RunCosts costs;
  History history;        // of the steps from first_step on, as measured
  std::string state;      // a hash of the states of all ranks in the end
  TimelineRecord record;  // of the last steps, at most a hundred, since the last start
};

// Runs request.measured_run on the schedule. `states` are what ranks must not lose, by rank. First
// the processes rehearse: they write checkpoints, and one of them is killed if there will be kills.
// Returns no value if the run was stopped. Throws InputError for a folder or a memory that is of no
// use, and std::runtime_error, which names the process, if one fails that was not to be killed.
std::optional<MeasuredRun> MeasureRun(const Schedule& schedule, const std::vector<Bytes>& states,
                                      const RunRequest& request, std::ostream& err);

}  // namespace stagecraft
