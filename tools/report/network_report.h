// Reports what a simulated step asks of the network: its communication by phase, with the method
// and the bottleneck link, and, if messages were simulated as flows, what each link carried.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/sim_executor.h"
#include "sim/step/evaluation.h"
#include "tools/report/communicator_uses.h"

namespace stagecraft {

// Uses by adjacent stages that differ only in bytes.
struct LikeUses {
  CommunicatorUse first;
  int last_stage = -1;
  Bytes most;  // of any of the stages

  // "grad reduce", "tensor parallel".
  std::string What() const;
  std::string Stages() const;  // "all" for uses of no particular stage, "2" or "0 to 3"
};
std::vector<LikeUses> MergeStages(const std::vector<CommunicatorUse>& uses);

// Returns a sentence for each option of the network that does not change the result.
std::vector<std::string> NetworkWarnings(const SimulatedStep& step, const Cluster& cluster,
                                         const NetworkOptions& network);

// Returns `communicators` and `links`. The links are those that carried anything, first those that
// were saturated longest, among equals those that were busy longest.
nlohmann::ordered_json NetworkToJson(const SimulatedStep& step, const Cluster& cluster);
void PrintNetwork(const SimulatedStep& step, const Cluster& cluster, std::ostream& out);

}  // namespace stagecraft
