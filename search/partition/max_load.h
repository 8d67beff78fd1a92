// Placements whose busiest device has as little to do as possible: the
// throughput of a pipeline.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"

namespace stagecraft {

struct MaxLoad {
  double max_load_ms = 0;
  NodePlacement placement;
};

// The least maximal load where every device holds what lies between two
// downsets of the graph of groups: forward operators in the order of their
// edges, backward ones against it or along it, whichever leaves more groups
// free to be parted. Exact. O(pairs of nested downsets * devices); throws
// InputError for more than 100,000 downsets. Nothing where the memory is too
// small.
//
// Groups that take no time and hang on one other are placed with it, and free
// sources with their first consumer; neither can cost anything but memory.
std::optional<MaxLoad> SolveContiguousMaxLoad(const PlacementProblem& problem);

// Any placement: simulated annealing over groups from `start`, whose result is
// never worse. `steps`: moves tried. The same seed gives the same placement.
MaxLoad ImproveMaxLoad(const PlacementProblem& problem, const NodePlacement& start, int64_t steps,
                       uint64_t seed);

// A start that needs no downsets: groups in topological order, each device
// filled to its share of the work and within its memory. It may exceed the
// memory of the last; ImproveMaxLoad mends that where it can.
NodePlacement SpreadInOrder(const PlacementProblem& problem);

}  // namespace stagecraft
