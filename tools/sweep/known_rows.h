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

// Keeps in `store`, which is of this grid alone, a row for every one of `points` whose inputs_hash
// a row of one of the databases has, and takes these out of `points`. Returns how many they are.
// Memory is that of all rows of a database. Throws InputError for a database that cannot be read or
// that sweep did not write.
int64_t TakeKnownRows(const std::vector<std::string>& databases, const Grid& grid,
                      const SweepInputs& inputs, std::vector<int64_t>& points, RunStore& store);

}  // namespace stagecraft
