// Evaluator: verdicts on many plans for one workload and cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/step/work_counter.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Says of a plan what SimulateStep() says, to the bit, and does less for it:
//  - Of a step that repeats itself only as much is simulated as proves that (repetition.h).
//  - What plans have in common is remembered: one that differs from earlier ones in a few
//    stages costs those stages and the replay.
// Not thread-safe: an evaluator for each thread. Which plans it saw before changes nothing.
class Evaluator {
 public:
  // All must outlive it. The model is asked for the same ops over and over: a MemoModel.
  Evaluator(const Workload& workload, const Cluster& cluster, const CostModel& model,
            const SimulationOptions& options = {});

  // Where memory does not suffice nothing is simulated: no time is known. The plan has no
  // FindErrors(), and its orders where they depend on costs (WithOrders()).
  Evaluation Evaluate(const Plan& plan);

  // Of a plan with its orders, fits or not.
  std::vector<StageMemory> Memory(const Plan& plan) { return memory_.Estimate(plan); }
  // Of the plan's memory what is quickly known, fragmentation left out: where that does not
  // suffice nothing does.
  std::vector<StageMemory> LeastMemory(const Plan& plan) { return memory_.EstimateTensors(plan); }

  // Steps so far that were proven to repeat themselves, and that were simulated whole.
  int64_t short_steps() const { return short_steps_; }
  int64_t whole_steps() const { return whole_steps_; }

 private:
  // Times from a step of fewer micro-batches; false where they do not follow from one.
  bool TimeShort(const Plan& plan, Evaluation& evaluation);

  const Workload& workload_;
  const Cluster& cluster_;
  const CostModel& model_;
  const SimulationOptions options_;
  MemoryEstimator memory_;
  LoweringMemory lowering_;
  WorkCounter work_;
  Plan shortened_;  // the last one, for its place in memory
  int64_t short_steps_ = 0;
  int64_t whole_steps_ = 0;
};

// The verdict of an Evaluator that has seen no other plan. Where memory does not suffice nothing is
// simulated: no time is known. The plan must have no FindErrors().
Evaluation EvaluatePlan(const Plan& plan, const Workload& workload, const Cluster& cluster,
                        const CostModel& model, const SimulationOptions& options = {});

}  // namespace stagecraft
