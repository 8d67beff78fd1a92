// A plan of a space, simulated.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "search/evaluator.h"
#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// The plan with the orders that it runs; nothing where it cannot be made, or its orders
// need more memory than they may use. May be called from any thread.
std::optional<Plan> MakeCandidate(const SearchProblem& problem, const PlanSpace& space,
                                  size_t index);

// Verdicts on plans of one problem, which outlives it. May be called from any thread.
class PlanRanker {
 public:
  explicit PlanRanker(const SearchProblem& problem);

  // As EvaluatePlan() gives it: without a time where memory does not suffice, and without
  // fragmentation where tensors alone do not fit. The plan has its orders.
  RankedPlan Rank(Plan plan);
  // What a plan that does not fit needs, with fragmentation: no less.
  Evaluation Misfit(const Plan& plan);
  // What any plan needs, with fragmentation; not simulated.
  std::vector<StageMemory> Memory(const Plan& plan);

 private:
  const SearchProblem& problem_;
  tbb::enumerable_thread_specific<Evaluator> evaluators_;
};

// What is left of it, as plan `index` of a space.
SeenPlan SeenPlanOf(const RankedPlan& ranked, size_t index);

}  // namespace stagecraft
