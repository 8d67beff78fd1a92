// FindStages(): finds the stages that reach the times of PipeDream's recurrence.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "search/partition/pipedream_level.h"

namespace stagecraft {

// Returns the stages of the outermost of `levels` over states begin..end on all its machines, which
// take times[levels.size()](begin, end); ties are broken as in pipedream.h. times[l] are those of
// runs on one machine of level l; the last ones are those on all machines of the outermost level.
// Throws Stopped.
std::vector<PipeDreamStage> FindStages(const AntichainStates& states,
                                       const PipeDreamOptions& options,
                                       std::span<const PipeDreamLevel> levels,
                                       const std::deque<TimeTable>& times, int begin, int end,
                                       const StopSign& stop);

}  // namespace stagecraft
