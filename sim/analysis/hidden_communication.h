// HiddenCommunication: how long a rank communicates while it computes, so that its step takes no
// longer for it. Together with the exposed communication of Breakdown this is all of it.
#pragma once

#include <cstdint>

#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/repetition.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Returns the time of the rank's messages, collectives and copies to its host that run while its
// compute lane runs a pass or an update, and of collectives inside passes that run beside other
// ops. Each counts by itself: two that run at once count twice. With a repetition it is that of the
// whole step. Cost: one walk over the rank's lanes.
Duration HiddenCommunication(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, int32_t rank,
                             const Repetition& repetition = {});

}  // namespace stagecraft
