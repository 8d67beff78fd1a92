// Which simulated ranks of a stage reduce gradients and share parameters
// together, and what they see of the cluster.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/lowered_passes.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace stagecraft {

// Ranks that hold the same parameters: all of them; those that share them out
// (all, or those within `zero_group` ranks); and those that hold copies of one
// share (one rank where everyone shares).
struct Holders {
  Fabric all;
  Fabric sharing;
  Fabric copies;

  int64_t shards() const { return sharing.ranks; }
};

// Ranks that run one collective: one group in a folded schedule, otherwise one
// per tensor index.
struct DataGroup {
  std::vector<Lane> lanes;
  int32_t rank = -1;  // its first
  Holders dense;      // every data-parallel rank
  Holders experts;    // every expert-parallel-th
};

std::vector<DataGroup> FindDataGroups(const Plan& plan, const Cluster& cluster,
                                      const LoweredPasses& passes, int stage);

}  // namespace stagecraft
