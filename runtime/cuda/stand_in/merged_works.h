// Merges those works of a graph that write nothing to memory.
#pragma once

#include <vector>

#include "runtime/cuda/stand_in/heap.h"
#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

// Returns works that take as long as these. Of several in a row that write nothing to memory, two
// remain: all but the last as one, and the last. Both touch a range in each block of memory that
// any of them touched, so that memory that must be alive from the beginning to the end is checked
// twice, however many kernels there are.
std::vector<WorkPointer> Merge(const std::vector<WorkPointer>& works, const Heap& heap);

}  // namespace stagecraft::stand_in
