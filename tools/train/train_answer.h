// Train(): simulates what `train` was asked for.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "search/training/balancer_comparison.h"
#include "search/training/job.h"
#include "search/training/trained_states.h"
#include "sim/job/history.h"
#include "sim/job/history_output.h"

namespace stagecraft {

struct TrainAnswer {
  std::vector<TrainedState> states;
  std::optional<History> history;      // of a single run, at least until it stopped
  std::optional<RunsSummary> summary;  // of several, unless one of them stopped
  std::optional<BalancerComparison> comparison;
  // What ended the runs or the comparison early: RunCannotContinue if that is an outcome of a run;
  // null if nothing did.
  std::exception_ptr failure = nullptr;
  std::string stopped = {};  // The same as a sentence, or empty.
};

// Simulates `runs` >= 1 histories of the job, and then, if `compares_balancers`, compares balancers
// without failures. Throws what TrainStates() throws, when nothing is simulated yet.
TrainAnswer Train(const Job& job, int runs, bool compares_balancers);

}  // namespace stagecraft
