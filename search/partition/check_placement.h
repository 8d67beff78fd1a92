// Computes a placement's objective from its definition.
#pragma once

#include "search/partition/partition_check.h"
#include "search/partition/placement_problem.h"

namespace stagecraft {

// The maximal load in milliseconds per sample; checks devices, groups on one device, memory, and
// operators that no accelerator runs.
PartitionCheck CheckMaxLoad(const PlacementProblem& problem, const NodePlacement& placement);

// The latency in milliseconds (latency.h); checks devices, groups, memory and circles.
PartitionCheck CheckLatency(const PlacementProblem& problem, const NodePlacement& placement);

// Checks that the devices' forward operators, and their backward ones, form no cycle. Appends to
// `errors`.
void CheckContiguity(const PlacementProblem& problem, const NodePlacement& placement,
                     std::vector<std::string>& errors);

}  // namespace stagecraft
