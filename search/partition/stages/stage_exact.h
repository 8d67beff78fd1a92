// The best plan, proven.
#pragma once

#include <optional>

#include "search/partition/stages/stage_problem.h"

namespace stagecraft {

struct ExactStages {
  double score = 0;  // seconds; that of the plan, bit for bit
  StagePlan plan;
};

// Over all pairs of nested downsets and all ways to spread devices, back to
// front: O(downsets^2 * product of (counts + 1) * devices). Nothing where no
// plan fits the memory. Throws InputError for more than `most_downsets`.
std::optional<ExactStages> SolveStagesExactly(const StageProblem& problem,
                                              int most_downsets = 2000);

// So many downsets, at most 2000, that these devices take about a minute.
int MostExactDownsets(const StageProblem& problem);

}  // namespace stagecraft
