// Which simulated ranks of a stage reduce gradients and share parameters
// together, and what they see of the cluster.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/lowered_passes.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace stagecraft {

// Ranks that run one collective: one group in a folded schedule, otherwise one
// per tensor index.
struct DataGroup {
  std::vector<Lane> lanes;
  int32_t rank = -1;  // its first
  // All data-parallel ranks; those that share (all, or `zero_group` of them);
  // and those that hold copies of one share.
  Fabric all;
  Fabric sharing;
  Fabric copies;   // one rank where everyone shares
  Fabric experts;  // ranks that hold the same experts; one where none does

  int64_t shards() const { return sharing.ranks; }
};

std::vector<DataGroup> FindDataGroups(const Plan& plan, const Cluster& cluster,
                                      const LoweredPasses& passes, int stage);

}  // namespace stagecraft
