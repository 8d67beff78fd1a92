// What ranks hold over time.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/timeline.h"
#include "sim/workload.h"

namespace stagecraft {

// A change of what a rank holds.
struct MemoryChange {
  Duration time;
  Bytes used;  // from then on
};

// For each simulated rank, by time: what its device holds beside fragmentation. A
// pass has at most two entries, its peak, at the share of its time that the
// operators before it are of all, and what it leaves behind, at its end. Linear in
// the passes.
std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline,
                                                      const FrameworkMemory& framework = {});

}  // namespace stagecraft
