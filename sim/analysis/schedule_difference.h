// ScheduleDifference: whether two schedules are the same, as is required for comparing two
// timelines.
#pragma once

#include <optional>
#include <string>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// Returns the first task in which `got` differs from `want`, with its field and both values:
// "tasks[5].phase: got backward, want forward (forward of micro-batch 2 on rank 0; of 96 tasks,
// want 80)". Tasks are compared by their tags, lanes, successors and ops. If all are the same,
// returns the first rank that stands for a different number of devices: "ranks[0].multiplicity: got
// 8, want 1". No value if there is no difference.
//
// Devices, communicators and what ops say about links concern where a schedule runs, not what it
// is, and may differ: of a collective only kind, bytes and ranks are compared.
std::optional<std::string> FindDifference(const Schedule& want, const Schedule& got);

}  // namespace stagecraft
