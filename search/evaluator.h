// Evaluator: evaluates many plans of one workload on one cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/plan/short_step.h"
#include "sim/step/evaluation.h"
#include "sim/step/work_counter.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Evaluator gives the evaluation of SimulateStep(), to the bit, for less work:
//  - Of a step that repeats itself only as much is simulated as proves that it does (repetition.h).
//  - What plans have in common is remembered: a plan that differs from earlier ones in a few stages
//    costs those stages and the replay.
//
// It is not thread-safe: use one evaluator for each thread. The plans that it evaluated before make
// no difference to an evaluation.
class Evaluator {
 public:
  // All arguments must outlive it. The model should be a MemoModel, since it is asked for the same
  // ops over and over.
  Evaluator(const Workload& workload, const Cluster& cluster, const CostModel& model,
            const SimulationOptions& options = {});

  // Returns the evaluation of a plan; it has no time if memory does not suffice, because then
  // nothing is simulated. Preconditions: FindErrors() of the plan is empty, and its passes are
  // known if its pipeline schedule depends on costs (WithPassOrders()).
  Evaluation Evaluate(const Plan& plan);
  // Does the same, but leaves out fragmentation if the plan does not fit even without it. So it
  // takes less time for plans that do not fit.
  Evaluation EvaluateIfTensorsFit(const Plan& plan);

  // Returns the memory of a plan whose passes are known, whether it fits or not.
  std::vector<StageMemory> Memory(const Plan& plan) { return memory_.Estimate(plan); }
  // Returns the memory without fragmentation, which is quick to compute: if this does not fit,
  // neither does the plan.
  std::vector<StageMemory> LeastMemory(const Plan& plan) { return memory_.EstimateTensors(plan); }

  // How many training steps so far were proven to repeat themselves, and how many were simulated
  // whole.
  int64_t short_steps() const { return short_steps_; }
  int64_t whole_steps() const { return whole_steps_; }

 private:
  // Returns the evaluation of a plan with this memory.
  Evaluation EvaluateWith(const Plan& plan, std::vector<StageMemory> memory);
  // Derives the times from a training step of fewer micro-batches. Returns false if they do not
  // follow from one.
  bool TimeShort(const Plan& plan, Evaluation& evaluation);
  bool TimeShort(const Plan& plan, const ShortStep& step, Evaluation& evaluation);

  const Workload& workload_;
  const Cluster& cluster_;
  const CostModel& model_;
  const SimulationOptions options_;
  MemoryEstimator memory_;
  LoweringMemory lowering_;
  WorkCounter work_;
  Plan shortened_;  // the last one, kept to reuse its allocations
  int64_t short_steps_ = 0;
  int64_t whole_steps_ = 0;
};

}  // namespace stagecraft
