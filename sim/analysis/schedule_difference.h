// ScheduleDifference: whether two schedules are one and the same, as two timelines must
// have it to be compared.
#pragma once

#include <optional>
#include <string>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// The first task in which `got` differs from `want`, its field and both values: "tasks[5].phase:
// got backward, want forward (forward of micro-batch 2 on rank 0; of 96 tasks, want 80)". Tasks
// are alike in their tags, lanes, successors and ops. Where all are, the first rank that stands
// for other devices: "ranks[0].multiplicity: got 8, want 1". Nothing where none does.
//
// Devices, communicators and what ops say of links are where a schedule runs, not what it
// is, and may differ: of a collective, kind, bytes and ranks count.
std::optional<std::string> FindDifference(const Schedule& want, const Schedule& got);

}  // namespace stagecraft
