// PlanRanker: makes and simulates the plans of a space.
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

// The plan with the passes that it runs; no value if it cannot be made, or if its pipeline schedule
// needs more memory than it may use. May be called from any thread.
std::optional<Plan> MakeCandidate(const SearchProblem& problem, const PlanSpace& space,
                                  size_t index);

// Verdicts on plans of one problem, which must outlive it. May be called from any thread.
class PlanRanker {
 public:
  explicit PlanRanker(const SearchProblem& problem);

  // The verdict of an Evaluator: without a time if memory does not suffice, and without
  // fragmentation if tensors alone do not fit. Precondition: the passes of the plan are known.
  RankedPlan Rank(Plan plan);
  // What a plan that does not fit needs at least, including fragmentation.
  Evaluation Misfit(const Plan& plan);
  // What any plan needs, including fragmentation; nothing is simulated.
  std::vector<StageMemory> Memory(const Plan& plan);

 private:
  const SearchProblem& problem_;
  tbb::enumerable_thread_specific<Evaluator> evaluators_;
};

// The summary of a plan that was evaluated, as plan `index` of a space.
SeenPlan SeenPlanOf(const RankedPlan& ranked, size_t index);

}  // namespace stagecraft
