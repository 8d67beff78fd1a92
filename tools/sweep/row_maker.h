// RowMaker: from the points of a grid to rows with their results.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/study/study_cache.h"
#include "tools/sweep/grid.h"
#include "tools/sweep/run_row.h"
#include "tools/sweep/sweep_inputs.h"

namespace stagecraft {

// Not thread-safe: use one for each thread, with the same cache.
class RowMaker {
 public:
  virtual ~RowMaker() = default;

  // The row does not depend on rows made before, nor on threads. Throws std::runtime_error for
  // results that are impossible, which is a bug.
  virtual RunRow Make(int64_t point) = 0;
};

// All arguments must outlive the maker. Searches end early as soon as `stop` is true; the row is
// then of no use.
std::unique_ptr<RowMaker> MakeRowMaker(const Grid& grid, const SweepInputs& inputs,
                                       StudyCache& cache, const std::atomic<bool>* stop);

// Returns the flags that grids of a verb may name, in the order of the verb's help.
std::vector<GridFlag> FlagsOf(GridVerb verb);

}  // namespace stagecraft
