// Finds the best plan, proven.
#pragma once

#include <optional>

#include "search/partition/stages/stage_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct ExactStages {
  double score = 0;  // seconds; equal to the score of the plan, bit for bit
  StagePlan plan;
  double bound = 0;  // no plan scores less; equal to the score unless it was stopped
};

// Tries all pairs of nested downsets and all ways to spread devices, from back to front:
// O(downsets^2 * product of (counts + 1) * devices). No value if no plan fits the memory. Throws
// InputError for more than `most_downsets`. If it is stopped, it returns the best plan so far;
// throws Stopped if there is none yet.
std::optional<ExactStages> SolveStagesExactly(const StageProblem& problem, int most_downsets = 2000,
                                              const StopSign& stop = {});

// As many downsets, at most 2000, as take about a minute with these devices.
int MostExactDownsets(const StageProblem& problem);

}  // namespace stagecraft
