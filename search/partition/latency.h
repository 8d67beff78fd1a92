// LatencyPlacement: a placement with which one sample is done as soon as possible.
#pragma once

#include <cstdint>
#include <optional>

#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct LatencyPlacement {
  double latency_ms = 0;
  // Accelerators are 0 .. accelerators - 1; all CPUs together are the next device.
  NodePlacement placement;
  double bound_ms = 0;  // no placement takes less
};

// Returns when the last operator ends, in milliseconds. All operators on an accelerator run as one
// unit: it starts when its last input is available, takes in all inputs, computes, and puts out all
// outputs (each in transfer_ms). An operator on the CPUs starts when its last input is available:
// it never waits for a free CPU, which is right if no more than `cpus` operators could run at once.
// No value if accelerators wait for each other in a cycle. O(nodes + edges).
std::optional<double> LatencyOf(const PlacementProblem& problem, const NodePlacement& placement);

// Returns a lower bound for any placement: the longest path, with every operator where it is
// fastest.
double LeastLatencyMs(const PlacementProblem& problem);

// Simulated annealing over groups of operators, from the better of two starts: everything on the
// CPUs, or accelerators filled in order; exact methods exist only for small graphs. Memory always
// suffices, and accelerators never wait in a cycle. No value if there are no CPUs and the
// accelerators' memory is too small for that start. `steps` is the number of moves tried; fewer if
// it is stopped.
std::optional<LatencyPlacement> SolveLatency(const PlacementProblem& problem, int64_t steps,
                                             uint64_t seed, const StopSign& stop = {});

}  // namespace stagecraft
