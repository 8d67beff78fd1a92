// PlanBound: a lower bound of the step time of any plan, from what its passes and exchanges take.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <memory>

#include "costmodel/units.h"
#include "search/problem.h"
#include "search/step_probe.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// PlanBound is closer than StepBound, and takes some hundred times as long: it lowers a step of one
// or two micro-batches. The bound is the largest over the stages of these, each followed by the
// norm of all gradients, the slowest update, and the gathers of what it has updated:
//
//   - The stage's passes, one after another, or what its host launches for them. Before them come
//     the forwards and messages of one micro-batch through all parts before the stage; after them
//     its backwards through these parts, or the reductions of what the last backward leaves.
//   - The work of the lane on which the stage's ranks reduce and gather beside every pass (ZeRO-2
//     and ZeRO-3). ZeRO-2 reduces nothing before the first backward, which needs all forwards.
//   - With ZeRO-3 a pass begins after the gathers that may not run ahead of the pass before it.
//
// Nothing in it depends on the order of passes, so it holds for every pipeline schedule.
class PlanBound {
 public:
  // The problem must outlive it.
  explicit PlanBound(const SearchProblem& problem)
      : problem_(problem),
        memories_(
            std::make_shared<Memories>([&workload = problem.workload, &cluster = problem.cluster] {
              return LoweringMemory(workload, cluster);
            })) {}

  // Uses what another bound remembers of plans. Its problem differs at most in the cost model.
  void UseMemoryOf(const PlanBound& other) { memories_ = other.memories_; }

  // Returns a time that is never more than the step time that SimulateStep() gives for the plan;
  // zero if nothing is known of it. May be called from any thread. Precondition: the plan has no
  // FindErrors().
  Duration StepTime(const Plan& plan);

 private:
  // One for each thread. They do not depend on the cost model.
  using Memories = tbb::enumerable_thread_specific<LoweringMemory>;

  const SearchProblem& problem_;
  std::shared_ptr<Memories> memories_;
};

// Returns the bound for a plan whose step was measured.
Duration BoundOf(const ProbedStep& step, const Plan& plan);

}  // namespace stagecraft
