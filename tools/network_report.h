// What `simulate` says of the network: who exchanges what, how, and over which
// links; and, where messages were flows, what links carried.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/evaluation.h"
#include "sim/cluster.h"
#include "sim/sim_executor.h"

namespace stagecraft {

// Tasks of one phase, stage, op and number of ranks, which differ in bytes at most.
struct CommunicatorUse {
  Phase phase = Phase::kGradReduce;
  int stage = -1;
  OpKind kind = OpKind::kAllReduce;
  Fabric fabric;
  CollectiveMethod method;  // of the largest
  int64_t groups = 0;       // side by side
  int64_t tasks = 0;
  Bytes bytes;             // of all tasks together, each rank's full buffer
  std::vector<int> links;  // that the first group's ring, or message, crosses; distinct, ascending
};

// In order of phase and stage. Cost: the schedule once, and a route for each rank
// of each communicator's first group.
std::vector<CommunicatorUse> FindCommunicators(const SimulatedStep& step, const Cluster& cluster);

// Inputs that cannot change the result, a sentence each.
std::vector<std::string> NetworkWarnings(const SimulatedStep& step, const Cluster& cluster,
                                         const NetworkOptions& network);

// `communicators`, and `links`: those that carried anything, by utilisation.
nlohmann::ordered_json NetworkToJson(const SimulatedStep& step, const Cluster& cluster);
void PrintNetwork(const SimulatedStep& step, const Cluster& cluster, std::ostream& out);

}  // namespace stagecraft
