// Placement: which devices each replica of each stage of a plan has, by the names of nodes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// Returns [{"stage", "replica", "devices": ["node0/gpu0-3", "node1/gpu0"]}], in order of stages and
// replicas; devices are in rank order, and those that follow each other in a node are one range.
nlohmann::ordered_json PlacementToJson(const Plan& plan, const Cluster& cluster);

}  // namespace stagecraft
