// The best plan, proven.
#pragma once

#include <optional>

#include "search/partition/stages/stage_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct ExactStages {
  double score = 0;  // seconds; that of the plan, bit for bit
  StagePlan plan;
  double bound = 0;  // no plan scores less; the score, unless it was stopped
};

// Over all pairs of nested downsets and all ways to spread devices, back to
// front: O(downsets^2 * product of (counts + 1) * devices). Nothing where no
// plan fits the memory. Throws InputError for more than `most_downsets`. Stopped, it
// returns the best of the plans that it came across; throws Stopped where there is
// none yet.
std::optional<ExactStages> SolveStagesExactly(const StageProblem& problem, int most_downsets = 2000,
                                              const StopSign& stop = {});

// So many downsets, at most 2000, that these devices take about a minute.
int MostExactDownsets(const StageProblem& problem);

}  // namespace stagecraft
