// TakeKnownRows(): results of earlier sweeps, for the points of a new one that have the same
// inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sweep/grid.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/sweep_inputs.h"

namespace stagecraft {

// Looks up the inputs_hash of every one of `points` in the databases. Writes a row for each point
// that is found to `store`, which holds this grid alone, and removes the point from `points`.
// Returns how many were found. Holds all rows of one database in memory. Throws InputError for a
// database that cannot be read or that sweep did not write.
int64_t TakeKnownRows(const std::vector<std::string>& databases, const Grid& grid,
                      const SweepInputs& inputs, std::vector<int64_t>& points, RunStore& store);

}  // namespace stagecraft
