// Which simulated ranks of a stage reduce gradients and share parameters
// together, and what they see of the cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Groups of devices that run collectives side by side, and what the slowest of them sees of
// the cluster: all wait for it.
struct Communicator {
  Fabric fabric;
  int32_t id = -1;  // in the schedule; servers follow the ranks of their group
  GradientSync sync = {};
};

// Ranks that hold the same parameters: all of them; those that share them out
// (all, or those within `zero_group` ranks); and those that hold copies of one
// share (where everyone shares: one rank, no communicator).
struct Holders {
  Communicator all;  // synchronises as Plan::gradient_sync says
  Communicator sharing;
  Communicator copies;

  int64_t shards() const { return sharing.fabric.ranks; }
};

// Ranks that run one collective: one group in a folded schedule, otherwise one
// per tensor index.
struct DataGroup {
  std::vector<Lane> lanes;
  int32_t rank = -1;  // its first
  Holders dense;      // every data-parallel rank
  Holders experts;    // every expert-parallel-th
};

// Those of a stage; adds their communicators to the schedule.
std::vector<DataGroup> FindDataGroups(LoweringContext& context, const LoweredPasses& passes,
                                      int stage);

}  // namespace stagecraft
