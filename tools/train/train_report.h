// What `train` prints: the states of the network with their plans, and the history of the run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/training/trained_states.h"
#include "sim/job/history.h"
#include "sim/job/history_output.h"
#include "tools/flags/planned_job.h"
#include "tools/train/train_flags.h"

namespace stagecraft {

// A run with one balancer, without failures.
struct BalancerRow {
  std::string name;  // "diffusion by time"
  Duration time;     // of the run, overheads included
  Duration overhead;
  double gpu_hours = 0;    // of the devices that are in use
  int fewest_devices = 0;  // after re-packing
  int moves = 0;           // how often layers moved
};
// The time-weighted mean of what balancing could gain at most: max / mean of the stages' loads.
struct BalancerComparison {
  std::vector<BalancerRow> rows;  // the first divides layers uniformly and never anew
  double bound = 1;
};

struct TrainAnswer {
  std::vector<TrainedState> states;
  std::optional<History> history;      // of a single run
  std::optional<RunsSummary> summary;  // of several
  std::optional<BalancerComparison> comparison;
};

nlohmann::ordered_json TrainToJson(const PlannedJob& job, const TrainRequest& request,
                                   const TrainAnswer& answer);
void PrintTrain(const PlannedJob& job, const TrainRequest& request, const TrainAnswer& answer,
                std::ostream& out);

}  // namespace stagecraft
