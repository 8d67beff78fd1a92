// Checks placements: computes their objectives from the definitions.
#pragma once

#include "search/partition/partition_check.h"
#include "search/partition/placement_problem.h"

namespace stagecraft {

// The objective is the maximal load in milliseconds per sample. Checks devices, that groups are on
// one device, memory, and that operators that accelerators cannot run are on CPUs.
PartitionCheck CheckMaxLoad(const PlacementProblem& problem, const NodePlacement& placement);

// The objective is the latency in milliseconds (latency.h). Checks devices, groups, memory, and
// that accelerators do not wait for each other in a cycle.
PartitionCheck CheckLatency(const PlacementProblem& problem, const NodePlacement& placement);

// Checks that edges between the devices' forward operators form no cycle, nor those between their
// backward ones. Appends to `errors`.
void CheckContiguity(const PlacementProblem& problem, const NodePlacement& placement,
                     std::vector<std::string>& errors);

}  // namespace stagecraft
