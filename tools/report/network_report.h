// What `simulate` says of the network: the communication by phase, its method and its
// bottleneck links; and, where messages were flows, what links carried.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// Tasks of one phase, stage, op and number of ranks, which differ in bytes at most.
// What a folded schedule simulates once counts as often as the cluster does it.
struct CommunicatorUse {
  Phase phase = Phase::kGradReduce;
  int stage = -1;
  OpKind kind = OpKind::kAllReduce;
  Fabric fabric;
  CollectiveMethod method;  // of the largest
  int64_t groups = 0;       // distinct ones
  int64_t tasks = 0;        // of one group or several side by side
  Bytes bytes;              // the full buffers of all groups of all tasks
  std::vector<int> links;   // that the first group's ring, or message, crosses; distinct, ascending
};

// In order of phase and stage. Cost: the schedule once, and a route for each rank
// of each communicator's first group.
std::vector<CommunicatorUse> FindCommunicators(const SimulatedStep& step, const Cluster& cluster);

// What neighbouring stages do alike.
struct LikeUses {
  CommunicatorUse first;
  int last_stage = -1;
  Bytes most;  // of a stage

  std::string Stages() const;  // "all", "2" or "0 to 3"
};
std::vector<LikeUses> MergeStages(const std::vector<CommunicatorUse>& uses);

// Inputs that cannot change the result, a sentence each.
std::vector<std::string> NetworkWarnings(const SimulatedStep& step, const Cluster& cluster,
                                         const NetworkOptions& network);

// `communicators`, and `links`: those that carried anything, the longest saturated
// first, then the longest busy.
nlohmann::ordered_json NetworkToJson(const SimulatedStep& step, const Cluster& cluster);
void PrintNetwork(const SimulatedStep& step, const Cluster& cluster, std::ostream& out);

}  // namespace stagecraft
