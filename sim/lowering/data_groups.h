// Which simulated ranks of a stage reduce gradients and share parameters together, and how the
// cluster connects them.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Groups of devices that run collectives side by side. `fabric` is that of the slowest group, which
// all others wait for.
struct Communicator {
  Fabric fabric;
  int32_t id = -1;  // in the schedule; its groups list their servers after their ranks
  GradientSync sync = {};
};

// Ranks that hold the same parameters: all of them; those that divide them among themselves (all,
// or those within `zero_group` ranks); and those that hold copies of the same share (if all ranks
// divide them: one rank, no communicator).
struct Holders {
  Communicator all;  // synchronises as Plan::gradient_sync says
  Communicator sharing;
  Communicator copies;

  int64_t shards() const { return sharing.fabric.ranks; }
};

// Ranks that run a collective together: one group for all tensor indices in a folded schedule,
// otherwise one per tensor index.
struct DataGroup {
  std::vector<Lane> lanes;
  int32_t rank = -1;  // the first of its ranks
  Holders dense;      // every data-parallel rank
  Holders experts;    // ranks whose distances are multiples of the expert-parallel degree
};

// Returns the groups of a stage, and adds their communicators to the schedule.
std::vector<DataGroup> FindDataGroups(LoweringContext& context, const LoweredPasses& passes,
                                      int stage);

}  // namespace stagecraft
