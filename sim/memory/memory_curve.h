// What ranks hold over time.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// A change of what a rank holds.
struct MemoryChange {
  Duration time;
  Bytes used;  // from then on
};

// How many entries a pass has. kPasses: at most two, its peak, and what it leaves behind at its
// end. kOperators: in place of the peak, one for every operator whose peak differs from that of the
// operator before it. All operators of a pass are taken to run equally long.
enum class CurveDetail { kPasses, kOperators };

// For each simulated rank, by time: what its device holds apart from fragmentation. Linear in the
// number of entries.
std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline,
                                                      const FrameworkMemory& framework = {},
                                                      CurveDetail detail = CurveDetail::kPasses);

}  // namespace stagecraft
