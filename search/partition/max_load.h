// Placements whose busiest device has as little to do as possible, which maximises the throughput
// of a pipeline.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct MaxLoad {
  double max_load_ms = 0;
  NodePlacement placement;
  // No placement of the kind that its solver looks for, contiguous or any, has less.
  double bound_ms = 0;
};

// A lower bound for any placement: all work, with every operator where it is fastest, shared evenly
// by all devices.
double LeastMaxLoadMs(const PlacementProblem& problem);

// The least maximal load if every device holds what lies between two downsets of the graph of
// groups: forward operators in the order of their edges, backward ones against it or along it,
// whichever leaves more groups free to be separated. Exact. O(pairs of nested downsets * devices);
// throws InputError for more than 100,000 downsets. No value if the memory is too small.
//
// Groups that take no time and depend on one other group are placed with it, and free sources with
// their first consumer; neither can cost anything but memory.
//
// If it is stopped, it returns the best placement so far; throws Stopped if there is none yet.
std::optional<MaxLoad> SolveContiguousMaxLoad(const PlacementProblem& problem,
                                              const StopSign& stop = {});

// Any placement: simulated annealing over groups from `start`, whose result is never worse. `steps`
// is the number of moves tried; fewer if it is stopped. The same seed gives the same placement.
MaxLoad ImproveMaxLoad(const PlacementProblem& problem, const NodePlacement& start, int64_t steps,
                       uint64_t seed, const StopSign& stop = {});

// A start that needs no downsets: groups in topological order, each device filled to its share of
// the work and within its memory. It may exceed the memory of the last device; ImproveMaxLoad()
// corrects that if it can.
NodePlacement SpreadInOrder(const PlacementProblem& problem);

}  // namespace stagecraft
