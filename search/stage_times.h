// StageTime: what the stages of a simulated step compute; and other ways to split the same
// pipeline.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The times of that rank of a stage that computes longest.
struct StageTime {
  int blocks = 0;     // layers, except for the first and the last of the network
  Duration forward;   // of one micro-batch through all chunks, mean
  Duration backward;  // the same, input and weight gradients together
  Duration busy;      // all passes of a step
};

// Returns the times of each stage, in pipeline order.
std::vector<StageTime> MeasureStages(const SimulatedStep& step, const Workload& workload);

// Returns the longest busy time over the mean.
double Imbalance(const std::vector<StageTime>& stages);

// Returns the same plan with its layers spread as evenly as possible, as MakePlan() spreads them;
// no value if they already are, or if that plan cannot be lowered.
std::optional<Plan> SplitEvenly(const Plan& plan, const Workload& workload, const Cluster& cluster);

// Returns the same plan with its layers spread by BalancedBlocks(); no value if they already are,
// if that plan cannot be lowered, or if there are several chunks per stage, fewer than two stages,
// or fewer layers between the ends than stages.
std::optional<Plan> SplitForHead(const Plan& plan, const Workload& workload,
                                 const Cluster& cluster);

}  // namespace stagecraft
