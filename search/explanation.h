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

// TimedSplit is one way to split the best plan's pipeline into stages, with its simulation.
struct TimedSplit {
  std::string name;          // "as found"
  bool spares_head = false;  // split as by SplitForHead()
  Evaluation evaluation;
  std::vector<StageTime> stages;
};

struct SearchExplanation {
  TimedSplit split;
  // The even split; if the best plan has that one, the split that moves layers from the stage with
  // the head to other stages, if there is one.
  std::optional<TimedSplit> other;
  std::optional<RankedPlan> second;  // the second-best plan, if the search returned two
  // The answers for those of UsualChanges() that the budget reached; none if memory is the
  // objective.
  std::vector<ChangedAnswer> sensitivity;
  std::optional<Mixing> mixing;  // if there are several GPU types
  int64_t evaluated = 0;         // evaluations of the sensitivity
  bool is_cut_short = false;     // by the budget
};

// Explains the best of `plans`, which are sorted, best first. There is at least one, and they need
// not be plans of the space. `seen` is passed to FindSensitivity(). `budget` is what the search has
// left; no value means that nothing is left. Cost: two simulations, and what FindSensitivity() and
// CompareKinds() take of the budget.
SearchExplanation ExplainSearch(const SearchProblem& problem, PlanSpace& space,
                                std::span<const RankedPlan> plans, std::span<const SeenPlan> seen,
                                const std::optional<Budget>& budget);

}  // namespace stagecraft
