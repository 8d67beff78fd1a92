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

// One way to split the best plan's pipeline into stages, simulated.
struct TimedSplit {
  std::string name;          // "as found"
  bool spares_head = false;  // SplitForHead()
  Evaluation evaluation;
  std::vector<StageTime> stages;
};

struct SearchExplanation {
  TimedSplit split;
  // The even split; for a plan that has it, the split that gives layers of the stage with the head
  // to others, if there is one.
  std::optional<TimedSplit> other;
  std::optional<RankedPlan> second;  // best plan, if the search returned two
  // Those of UsualChanges() that the budget reached; none if memory is the objective.
  std::vector<ChangedAnswer> sensitivity;
  std::optional<Mixing> mixing;  // if there are several GPU types
  int64_t evaluated = 0;         // for the sensitivity
  bool is_cut_short = false;     // by the budget
};

// `plans` are best first, at least one; they may lie beyond the space. `seen` is that of
// FindSensitivity(). Cost: two simulations, and what FindSensitivity() and CompareKinds() take of
// the budget that the search has left; without a value it is used up.
SearchExplanation ExplainSearch(const SearchProblem& problem, PlanSpace& space,
                                std::span<const RankedPlan> plans, std::span<const SeenPlan> seen,
                                const std::optional<Budget>& budget);

}  // namespace stagecraft
