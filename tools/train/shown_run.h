// ShownRun: what the page of a training run shows, from a run or from the JSON that `train`
// printed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/job/history.h"
#include "tools/flags/planned_job.h"
#include "tools/train/train_answer.h"
#include "tools/train/train_flags.h"
#include "tools/train/train_marks.h"

namespace stagecraft {

// A state of the network, and the plan for it.
struct ShownState {
  int64_t step = 0;         // the first with it
  std::string change;       // empty: as given
  std::vector<int> layers;  // of each stage
  Duration step_time;
  double idle_share = 0;  // of the pipeline
  std::string decision;   // of the balancer; may be empty
};

struct ShownRun {
  std::string workload, cluster;
  int64_t steps = 0;  // that were asked for
  History history;
  std::vector<ShownState> states;
  RunMarks marks;
};

// Precondition: the answer has a history.
ShownRun ShownRunOf(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer);

// Reads the JSON that `train` prints. Throws an InputError that begins with `place` for other JSON,
// and for that of several runs, which has no history.
ShownRun ShownRunFromJson(const nlohmann::ordered_json& answer, const std::string& place);

// Returns "marks" and "checkpoints_not_marked", as the JSON of `train` has them.
nlohmann::ordered_json MarksToJson(const RunMarks& marks);

}  // namespace stagecraft
