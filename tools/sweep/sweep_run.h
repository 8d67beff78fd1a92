// SweepPoints(): evaluates points on several threads, and keeps their rows in batches.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/grid.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/sweep_inputs.h"

namespace stagecraft {

struct SweepRun {
  const Grid& grid;
  const SweepInputs& inputs;
  RunStore& store;  // of this grid alone
  std::vector<int64_t> points;
  int threads = 1;  // searches run one after another, each on this many threads
  const std::atomic<bool>* stop = nullptr;        // ends it early; may be null
  std::function<void(int64_t kept)> report = {};  // now and then, from the calling thread
};

// Returns how many rows were kept: all, unless it was stopped. What is kept does not depend on
// threads. Throws what RowMaker and RunStore throw, after the rows that are made are kept if they
// can be.
int64_t SweepPoints(const SweepRun& run);

}  // namespace stagecraft
