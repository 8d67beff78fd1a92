// What the stages of a simulated step take, and other ways to split the same pipeline.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Times of the rank of a stage that computes longest.
struct StageTime {
  int blocks = 0;     // layers without the first and the last of the network
  Duration forward;   // mean of one micro-batch through all chunks
  Duration backward;  // the same, input and weight gradients together
  Duration busy;      // all passes of a step
};

// By stage, in pipeline order.
std::vector<StageTime> MeasureStages(const SimulatedStep& step, const Workload& workload);

// The longest busy time over the mean.
double Imbalance(const std::vector<StageTime>& stages);

// The same plan with its layers spread as evenly as possible, as MakePlan() does it; no value if
// they are so already or if such a plan cannot be lowered.
std::optional<Plan> SplitEvenly(const Plan& plan, const Workload& workload, const Cluster& cluster);

// The same plan with BalancedBlocks(); no value if they are so already, or if such a plan cannot be
// lowered: with several chunks per stage, or fewer than two stages.
std::optional<Plan> SplitForHead(const Plan& plan, const Workload& workload,
                                 const Cluster& cluster);

}  // namespace stagecraft
