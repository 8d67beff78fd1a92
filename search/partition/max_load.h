// Placements whose busiest device has as little to do as possible: the
// throughput of a pipeline.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct MaxLoad {
  double max_load_ms = 0;
  NodePlacement placement;
  // Of the placements that its solver looks for, contiguous ones or any, none has less.
  double bound_ms = 0;
};

// Of any placement at least: all work, every operator where it is fastest, shared evenly
// by all devices.
double LeastMaxLoadMs(const PlacementProblem& problem);

// The least maximal load where every device holds what lies between two
// downsets of the graph of groups: forward operators in the order of their
// edges, backward ones against it or along it, whichever leaves more groups
// free to be parted. Exact. O(pairs of nested downsets * devices); throws
// InputError for more than 100,000 downsets. Nothing where the memory is too
// small.
//
// Groups that take no time and hang on one other are placed with it, and free
// sources with their first consumer; neither can cost anything but memory.
//
// Stopped, it returns the best of the placements that it came across; throws
// Stopped where there is none yet.
std::optional<MaxLoad> SolveContiguousMaxLoad(const PlacementProblem& problem,
                                              const StopSign& stop = {});

// Any placement: simulated annealing over groups from `start`, whose result is
// never worse. `steps`: moves tried, fewer where it is stopped. The same seed gives
// the same placement.
MaxLoad ImproveMaxLoad(const PlacementProblem& problem, const NodePlacement& start, int64_t steps,
                       uint64_t seed, const StopSign& stop = {});

// A start that needs no downsets: groups in topological order, each device
// filled to its share of the work and within its memory. It may exceed the
// memory of the last; ImproveMaxLoad mends that where it can.
NodePlacement SpreadInOrder(const PlacementProblem& problem);

}  // namespace stagecraft
