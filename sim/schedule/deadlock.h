// Why a schedule cannot run to its end: tasks that wait for each other in a circle.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "costmodel/check.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Tasks wait for each other in a circle, or for a lane that stays stopped. The text reads "B2.0 on
// rank 1 waits for F2.1 on rank 0, which waits for ...".
class DeadlockError : public InputError {
  using InputError::InputError;
};

// Why the tasks with waits >= 0 cannot run, as one readable circle. waits[task] is the number of
// tasks for which `task` still waits: its predecessors, and the task ahead of it on each lane.
std::string ExplainDeadlock(const Schedule& schedule, std::span<const int32_t> waits);

// Throws DeadlockError if tasks wait in a circle, whatever their durations. Linear in tasks,
// dependencies and lane entries.
void CheckForDeadlock(const Schedule& schedule);

}  // namespace stagecraft
