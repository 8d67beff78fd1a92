// MaxLoad: a placement whose busiest device has as little to do as possible, which maximises the
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
  // No placement of the kind that the solver seeks, contiguous or any, has a smaller maximal load.
  double bound_ms = 0;
};

// Returns a lower bound for any placement: all work, with every operator where it is fastest,
// shared evenly by all devices.
double LeastMaxLoadMs(const PlacementProblem& problem);

// Returns the placement with the least maximal load, exactly, if every device holds what lies
// between two downsets of the graph of groups: forward operators in the order of their edges,
// backward ones in the opposite order or in the same, whichever leaves more groups that can be
// separated. O(pairs of nested downsets * devices); throws InputError for more than 100,000
// downsets. No value if the memory is too small.
//
// Groups that take no time and depend on one other group are placed with that group, and sources
// that cost nothing with their first consumer; this can cost nothing but memory.
//
// If it is stopped, it returns the best placement so far; throws Stopped if there is none yet.
std::optional<MaxLoad> SolveContiguousMaxLoad(const PlacementProblem& problem,
                                              const StopSign& stop = {});

// Seeks any placement by simulated annealing over groups from `start`; the result is never worse.
// `steps` is the number of moves tried; fewer if it is stopped. The same seed gives the same
// placement.
MaxLoad ImproveMaxLoad(const PlacementProblem& problem, const NodePlacement& start, int64_t steps,
                       uint64_t seed, const StopSign& stop = {});

// Returns a start that needs no downsets: takes groups in topological order and fills each device
// up to its share of the work and within its memory. The placement may exceed the memory of the
// last device; ImproveMaxLoad() corrects that if it can.
NodePlacement SpreadInOrder(const PlacementProblem& problem);

}  // namespace stagecraft
