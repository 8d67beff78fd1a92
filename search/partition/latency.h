// Placements that bring one sample through as soon as possible.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct LatencyPlacement {
  double latency_ms = 0;
  // Accelerators are 0 .. accelerators - 1; all CPUs together are the one device behind them.
  NodePlacement placement;
  double bound_ms = 0;  // no placement takes less
};

// When the last operator ends, in milliseconds. What is on an accelerator runs as one unit: it
// starts when its last input is there, takes all inputs in, computes and gives all outputs out
// (each in transfer_ms). An operator on the CPUs starts when its last input is there: operators on
// CPUs never wait for each other, which is right if no more than `cpus` operators could run at
// once. No value if accelerators wait for each other in a circle. O(nodes + edges).
std::optional<double> LatencyOf(const PlacementProblem& problem, const NodePlacement& placement);

// A lower bound for any placement: the longest path, with every operator where it is fastest.
double LeastLatencyMs(const PlacementProblem& problem);

// Simulated annealing over groups of operators, from the better of two starts: everything on the
// CPUs, or accelerators filled in order; exact methods exist only for small graphs. Memory and
// circles are never violated. No value if there are no CPUs and the accelerators' memory is too
// small for that start. `steps` is the number of moves tried; fewer if it is stopped.
std::optional<LatencyPlacement> SolveLatency(const PlacementProblem& problem, int64_t steps,
                                             uint64_t seed, const StopSign& stop = {});

}  // namespace stagecraft
