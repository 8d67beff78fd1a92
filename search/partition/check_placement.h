// A placement's objective from its definition.
#pragma once

#include "search/partition/partition_check.h"
#include "search/partition/placement_problem.h"

namespace stagecraft {

// Maximal load in milliseconds per sample; devices, groups on one device,
// memory, operators that no accelerator runs.
PartitionCheck CheckMaxLoad(const PlacementProblem& problem, const NodePlacement& placement);

// Latency in milliseconds (latency.h); devices, groups, memory, circles.
PartitionCheck CheckLatency(const PlacementProblem& problem, const NodePlacement& placement);

// That the devices' forward operators, and their backward ones, form no cycle.
// Appends to `errors`.
void CheckContiguity(const PlacementProblem& problem, const NodePlacement& placement,
                     std::vector<std::string>& errors);

}  // namespace stagecraft
