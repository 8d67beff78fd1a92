// Merges the works of a graph that leave nothing in memory.
#pragma once

#include <vector>

#include "runtime/cuda/stand_in/heap.h"
#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

// Returns works that take as long as these. Of many in a row that leave nothing in memory two
// remain: the last, and all before it in one. Both touch a range in each block of memory that any
// of them touched, so that memory that must be alive from the beginning to the end is checked
// twice, however many kernels there are.
std::vector<WorkPointer> Merge(const std::vector<WorkPointer>& works, const Heap& heap);

}  // namespace stagecraft::stand_in
