// Evaluation: the verdict on a plan, namely how long it takes, what it needs, and whether it fits.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/analysis/breakdown.h"
#include "sim/analysis/steady_state.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/repetition.h"
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

// How the training steps of a plan follow each other.
StepEnds StepEndsOf(const Plan& plan);

struct Evaluation {
  // For a pipeline that never flushes: the time of a global batch in its steady state.
  Duration step_time;
  // 80 % of steps are expected to lie between these two.
  Duration step_time_low;
  Duration step_time_high;
  // The step time if no two messages met on an interface; at most step_time. It scales with the
  // times of ops: if all take at least a times as long, it is at least a times as long. Zero if
  // steps do not end together, or never end.
  Duration unshared_time;
  StepProfile profile;
  std::optional<SteadyState> steady;  // only for pipelines that never flush
  std::vector<StageMemory> memory;    // by stage, in pipeline order
  bool fits = false;

  double tokens = 0;               // of one step
  double samples = 0;              // of one step
  int devices = 0;                 // how many the plan uses
  std::vector<int> group_devices;  // the same by node group of the cluster
  // FLOPs of the whole job in one step: by the convention of Workload::TrainingFlopsPerToken, and
  // including what recomputation repeats.
  FlopCount model_flops;
  FlopCount hardware_flops;
  // Sum of the dense peaks of the devices at 16 bits, or at 32 bits for 32-bit training; 8-bit
  // training is measured against the 16-bit peak, as is usual.
  FlopRate peak;

  void SetTime(const StepProfile& of_step);
  void SetMemory(std::vector<StageMemory> by_stage);

  double mfu() const { return model_flops.count() / (peak.flop_per_s() * step_time.seconds()); }
  double hfu() const { return hardware_flops.count() / (peak.flop_per_s() * step_time.seconds()); }
};

// A simulated step with everything that led to it.
struct SimulatedStep {
  Plan plan;  // with the passes that it ran
  // How further micro-batches repeat the schedule and the timeline, which are then those of a part
  // of the step; empty unless SimulationOptions::repeats.
  Repetition repetition;
  Schedule schedule;
  Timeline timeline;
  BoundCosts costs;
  Evaluation evaluation;
  std::vector<LinkUse> link_use;  // by link of the cluster; empty with NetworkFidelity::kModel
};

struct SimulationOptions {
  bool unfold = false;         // always with NetworkFidelity::kFlow
  bool with_optimizer = true;  // false: passes alone, as kernel benchmarks time them
  // Simulates only as much of a step of many micro-batches as proves how the others repeat it,
  // where that is possible; the evaluation is the same to the bit.
  bool repeats = false;
  NetworkOptions network = {};
  FrameworkMemory framework = {};
};

// Lowers, simulates and sums up one step. If parts of the cluster are slow (SlowParts), the step is
// what they make of the plan: passes whose order depends on costs are still ordered as for a
// cluster at full speed. Throws LinkDownError if the plan needs a link at rate 0. Cost: grows with
// the devices that differ, since replicas without slow parts are still simulated once.
// Precondition: the plan has no FindErrors().
SimulatedStep SimulateStep(const Plan& plan, const Workload& workload, const Cluster& cluster,
                           const CostModel& model, const SimulationOptions& options = {});

// The part of it that concerns time: fills in everything but the plan, memory and FLOPs, without
// SimulationOptions::repeats. The passes of the plan must be known. `memory` is that of the same
// workload and cluster.
void SimulateTime(const Plan& plan, const Workload& workload, const Cluster& cluster,
                  const CostModel& model, const SimulationOptions& options, LoweringMemory& memory,
                  SimulatedStep& step);

}  // namespace stagecraft
