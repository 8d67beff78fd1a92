// Evaluation: the verdict on a plan. What it takes, what it needs, whether it
// fits.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/analysis/steady_state.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/stage_memory.h"
#include "sim/network/flow_network.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// How the steps of a plan follow each other.
StepEnds StepEndsOf(const Plan& plan);

struct Evaluation {
  // Of a pipeline that never flushes: of a global batch in its steady state.
  Duration step_time;
  // 80 % of steps are expected in between.
  Duration step_time_low;
  Duration step_time_high;
  // No more than step_time: had no two messages met on an interface. It grows and shrinks
  // with what the ops take: with all at least a times as long, at least a times. Zero
  // where steps do not end together, or never.
  Duration unshared_time;
  StepProfile profile;
  std::optional<SteadyState> steady;  // only of pipelines that never flush
  std::vector<StageMemory> memory;    // by stage, in pipeline order
  bool fits = false;

  double tokens = 0;               // of one step
  double samples = 0;              // of one step
  int devices = 0;                 // that the plan uses
  std::vector<int> group_devices;  // the same by group of the cluster
  // FLOPs of the whole job in one step: Workload::TrainingFlopsPerToken's
  // convention, and with what recomputation repeats.
  FlopCount model_flops;
  FlopCount hardware_flops;
  // Sum of the devices' dense peaks at 16 bits, or at 32 for 32-bit training;
  // 8-bit training is measured against the 16-bit peak, as is usual.
  FlopRate peak;

  void SetTime(const StepProfile& of_step);
  void SetMemory(std::vector<StageMemory> by_stage);

  double mfu() const { return model_flops.count() / (peak.flop_per_s() * step_time.seconds()); }
  double hfu() const { return hardware_flops.count() / (peak.flop_per_s() * step_time.seconds()); }
};

// A simulated step with everything that led to it.
struct SimulatedStep {
  Plan plan;  // with the orders that it ran
  Schedule schedule;
  Timeline timeline;
  BoundCosts costs;
  Evaluation evaluation;
  std::vector<LinkUse> link_use;  // by link of the cluster; empty with NetworkFidelity::kModel
};

struct SimulationOptions {
  bool unfold = false;         // always with NetworkFidelity::kFlow
  bool with_optimizer = true;  // off: passes alone, as kernel benchmarks time them
  NetworkOptions network = {};
  FrameworkMemory framework = {};
};

// Lowers, simulates and sums up one step. The plan must have no FindErrors().
SimulatedStep SimulateStep(const Plan& plan, const Workload& workload, const Cluster& cluster,
                           const CostModel& model, const SimulationOptions& options = {});

// The part of it that knows times: of step.plan, which has its orders, everything but memory
// and FLOPs. `memory` is of the same workload and cluster.
void SimulateTime(const Workload& workload, const Cluster& cluster, const CostModel& model,
                  const SimulationOptions& options, LoweringMemory& memory, SimulatedStep& step);

}  // namespace stagecraft
