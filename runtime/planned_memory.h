// PlannedMemory: what a rank holds according to its plan, and the allocations that stand for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// What a pass holds in addition to what was held when it began.
struct PassHolding {
  Bytes most;
  int64_t left = 0;  // bytes that it leaves behind; negative if it frees more
};

struct PlannedMemory {
  Bytes states;  // weights, gradients and optimizer states, which are always held
  // Indexed by chunk, then by Phase; only those values of Phase that are IsPass() occur.
  std::vector<std::array<PassHolding, 4>> chunks;
};

struct Allocation {
  int32_t block = -1;
  Bytes bytes;
};

// What a task allocates as it begins, and what it frees and then allocates as it ends. The first
// task of a pass allocates at its begin, the last task frees and allocates at its end.
struct TaskAllocations {
  std::vector<Allocation> at_begin;
  std::vector<int32_t> freed;
  std::vector<Allocation> at_end;
};

// Returns the allocations of a rank's passes, in the order of its compute lane: a memory block for
// what a forward leaves until the backwards of its micro-batch free it, one for what is left
// between them, and one for what a pass holds only while it runs. Every block is freed by the end
// of the step. Throws InputError for a pass through a chunk that the plan does not know.
std::map<TaskId, TaskAllocations> PassAllocations(const Schedule& schedule, int32_t rank,
                                                  const PlannedMemory& memory);

}  // namespace stagecraft
