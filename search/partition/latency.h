// Placements that bring one sample through as soon as possible.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct LatencyPlacement {
  double latency_ms = 0;
  // Accelerators 0 .. accelerators - 1; all processors are the one device
  // behind them.
  NodePlacement placement;
  double bound_ms = 0;  // no placement takes less
};

// When the last operator ends, in milliseconds. What is on an accelerator runs
// as one: it starts when its last input is there, takes all inputs in, computes
// and gives all outputs out (each transfer_ms). An operator on the processors
// starts when its last input is there: they never wait for each other, which
// holds where no more than `cpus` operators could run at once. Nothing where
// accelerators wait for each other in a circle. O(nodes + edges).
std::optional<double> LatencyOf(const PlacementProblem& problem, const NodePlacement& placement);

// Of any placement at least: the longest path, every operator where it is fastest.
double LeastLatencyMs(const PlacementProblem& problem);

// Simulated annealing over groups of operators, from the better of all on the
// processors and accelerators filled in order; exact methods exist for small
// graphs only. Memory and circles are never violated. Nothing where there are
// no processors and the accelerators' memory is too small for that start.
// `steps`: moves tried, fewer where it is stopped.
std::optional<LatencyPlacement> SolveLatency(const PlacementProblem& problem, int64_t steps,
                                             uint64_t seed, const StopSign& stop = {});

}  // namespace stagecraft
