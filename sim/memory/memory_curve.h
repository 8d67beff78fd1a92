// MemoryOverTime: how much memory each rank holds over time.
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

// MemoryChange is a change of what a rank holds.
struct MemoryChange {
  Duration time;
  Bytes used;  // from then on
};

// CurveDetail says how many entries a curve has for each pass. kPasses: at most two, one for its
// peak and one for what it leaves behind at its end. kOperators: instead of the peak, one for every
// operator whose peak differs from that of the operator before it, where all operators of a pass
// are assumed to run equally long.
enum class CurveDetail { kPasses, kOperators };

// Returns for each simulated rank, in order of time, what its device holds apart from
// fragmentation. Takes time linear in the number of entries.
std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline,
                                                      const FrameworkMemory& framework = {},
                                                      CurveDetail detail = CurveDetail::kPasses);

}  // namespace stagecraft
