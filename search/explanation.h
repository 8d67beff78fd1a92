// SearchExplanation: what the answer of a search rests on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/mixing.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/sensitivity.h"
#include "search/solution.h"
#include "search/stage_times.h"

namespace stagecraft {

// One way to cut the best plan's pipeline, simulated.
struct TimedSplit {
  std::string name;          // "as found"
  bool spares_head = false;  // SplitForHead()
  Evaluation evaluation;
  std::vector<StageTime> stages;
};

struct SearchExplanation {
  TimedSplit split;
  // The even split; of a plan that has it the one that gives the head's blocks to others,
  // where there is such a one.
  std::optional<TimedSplit> other;
  std::optional<RankedPlan> second;  // best, of a search that returns two
  // Of UsualChanges() those that the budget reached; none where memory is the objective.
  std::vector<ChangedAnswer> sensitivity;
  std::optional<Mixing> mixing;  // of several kinds of node
  int64_t evaluated = 0;         // for the sensitivity
  bool is_cut_short = false;     // by the budget
};

// `plans`: best first, at least one; they may lie beyond the space. `seen`: as FindSensitivity()
// wants it. Two simulations, and what FindSensitivity() and CompareKinds() take of the budget
// that the search has left; nothing: it is spent.
SearchExplanation ExplainSearch(const SearchProblem& problem, PlanSpace& space,
                                std::span<const RankedPlan> plans, std::span<const SeenPlan> seen,
                                const std::optional<Budget>& budget);

}  // namespace stagecraft
