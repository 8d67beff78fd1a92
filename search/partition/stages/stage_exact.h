// SolveStagesExactly(): finds the best plan and proves that it is.
#pragma once

#include <optional>

#include "search/partition/stages/stage_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct ExactStages {
  double score = 0;  // seconds; bit for bit that of StageScorer
  StagePlan plan;
  double bound = 0;  // no plan scores less; equal to `score` unless it was stopped
};

// Tries all pairs of nested downsets and all ways to spread devices, from back to front:
// O(downsets^2 * product of (counts + 1) * devices). No value if no plan fits in memory. Throws
// InputError if there are more than `most_downsets`. If it is stopped, it returns the best plan so
// far; throws Stopped if there is none yet.
std::optional<ExactStages> SolveStagesExactly(const StageProblem& problem, int most_downsets = 2000,
                                              const StopSign& stop = {});

// Returns the number of downsets, at most 2000, that takes about a minute with these devices.
int MostExactDownsets(const StageProblem& problem);

}  // namespace stagecraft
