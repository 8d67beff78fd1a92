// PlannedMemory: what a rank holds by the plan, and which allocations stand for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// What a pass holds beyond what is held when it begins.
struct PassHolding {
  Bytes most;
  int64_t left = 0;  // bytes that it leaves behind; negative if it frees more
};

struct PlannedMemory {
  Bytes states;  // weights, gradients and optimizer states: held all the time
  std::vector<std::array<PassHolding, 4>> chunks;  // by phase, IsPass()
};

struct Allocation {
  int32_t block = -1;
  Bytes bytes;
};

// What the first task of a pass allocates as it begins, and what the last task frees and allocates,
// in this order, as it ends.
struct TaskAllocations {
  std::vector<Allocation> at_begin;
  std::vector<int32_t> freed;
  std::vector<Allocation> at_end;
};

// The allocations of a rank's passes, in the order of its compute lane: a block for what a forward
// leaves until the backwards of its micro-batch free it, one for what is left between them, and one
// for what a pass holds only while it runs. Every block is freed by the end of the step. Throws
// InputError for a pass through a chunk that the plan does not know.
std::map<TaskId, TaskAllocations> PassAllocations(const Schedule& schedule, int32_t rank,
                                                  const PlannedMemory& memory);

}  // namespace stagecraft
