// Lowering: Plan x Workload x Cluster -> Schedule.
//
// Replicas whose devices, groups and routes are alike do the same at the same
// time: one representative of each such class is simulated, and one rank
// stands for a tensor- and context-parallel group. `unfold` simulates every
// device. Both give the same times to the nanosecond.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/stage_order.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct LoweringOptions {
  bool unfold = false;
  bool with_optimizer = true;  // off: forward and backward passes alone
};

// The plan must have no FindErrors(). Cost: linear in the tasks of the
// simulated ranks, plus the devices of the cluster once.
Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options = {});

// The same of one plan after another, for the same workload and cluster: what `memory` knows
// of the devices of an earlier one is not sought again.
Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options, LoweringMemory& memory);

}  // namespace stagecraft
