// Lowering: Plan x Workload x Cluster -> Schedule.
//
// Replicas whose devices, groups and routes are alike do the same at the same time. So one
// representative of each class of them is simulated, and one rank stands for a tensor- and
// context-parallel group. `unfold` simulates every device instead. Both give the same times to the
// nanosecond.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/stage_order.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct LoweringOptions {
  bool unfold = false;
  bool with_optimizer = true;      // if false, only forward and backward passes
  FrameworkMemory framework = {};  // says how much a forward saves, which may be offloaded
};

// FindErrors() must find nothing wrong with the plan. Cost: linear in the tasks of the simulated
// ranks, plus once the number of the cluster's devices.
Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options = {});

// The same for one plan after another on the same workload and cluster: what `memory` knows about
// the devices of an earlier plan is not computed again.
Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options, LoweringMemory& memory);

}  // namespace stagecraft
