// PlanRanker: simulates the plans of a space; MakeCandidate() makes them.
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

// Returns plan `index` of a space with the passes that it runs; no value if the plan cannot be
// made, or if its pipeline schedule needs more memory than it may use. May be called from any
// thread.
std::optional<Plan> MakeCandidate(const SearchProblem& problem, const PlanSpace& space,
                                  size_t index);

// Sets the plan of an evaluation that came from another rank without it (packed_evaluation.h): plan
// `index` of the space. Does nothing if there is one.
void AddMissingPlan(const SearchProblem& problem, const PlanSpace& space, size_t index,
                    RankedPlan& ranked);

// PlanRanker evaluates the plans of one problem, which must outlive it. Its methods may be called
// from any thread.
class PlanRanker {
 public:
  explicit PlanRanker(const SearchProblem& problem);

  // Returns the plan with the evaluation of an Evaluator and its score. The evaluation has no time
  // if memory does not suffice, and its memory leaves fragmentation out if tensors alone do not
  // fit. Precondition: the passes of the plan are known.
  RankedPlan Rank(Plan plan);
  // Returns what Rank() does for a plan of which tensors alone do not fit, but with the plan's
  // pipeline schedule only (AddMissingPlan()); no value if they fit. That takes a fraction of the
  // time of an evaluation.
  std::optional<RankedPlan> RankIfTensorsMisfit(const Plan& plan);
  // Returns the evaluation, including fragmentation, of a plan that does not fit.
  Evaluation Misfit(const Plan& plan);
  // Returns the memory that a plan needs, including fragmentation, whether it fits or not. Does not
  // simulate it.
  std::vector<StageMemory> Memory(const Plan& plan);

 private:
  const SearchProblem& problem_;
  tbb::enumerable_thread_specific<Evaluator> evaluators_;
};

// Returns the summary of a plan that was evaluated and is plan `index` of a space.
SeenPlan SeenPlanOf(const RankedPlan& ranked, size_t index);

}  // namespace stagecraft
