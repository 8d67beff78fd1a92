#include "sim/lowering/exchange_devices.h"

#include <cstddef>

#include "sim/shard/stage_order.h"

namespace stagecraft {

std::vector<int> DataDevices(const Plan& plan, int stage, int tensor) {
  std::vector<int> devices;
  for (const int peer : MapOf(plan).Peers(stage)) {
    const std::vector<int> own = ReplicaDevices(plan.stages[peer], tensor);
    devices.insert(devices.end(), own.begin(), own.end());
  }
  return devices;
}

std::vector<int> TiedDevices(const Plan& plan, std::span<const int> stages,
                             const PipelineInstance& instance, int rank) {
  std::vector<int> devices;
  for (const int stage : stages) {
    for (const int r : instance.replicas[stage]) {
      const std::vector<int>& replica = plan.stages[stage].replicas[r];
      devices.push_back(replica[static_cast<size_t>(rank) % replica.size()]);
    }
  }
  return devices;
}

std::vector<int> PipelineDevices(const Plan& plan, const PipelineInstance& instance, int rank) {
  std::vector<int> devices;
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    devices.push_back(plan.stages[stage].replicas[instance.replicas[stage][0]][rank]);
  }
  return devices;
}

std::vector<MessageEnds> FindMessages(const Plan& plan, int from_stage, int from_replica,
                                      int to_stage, int to_replica) {
  const std::vector<int>& from = plan.stages[from_stage].replicas[from_replica];
  const std::vector<int>& to = plan.stages[to_stage].replicas[to_replica];
  std::vector<MessageEnds> messages;
  messages.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) messages.push_back({from[i], to[i % to.size()]});
  return messages;
}

}  // namespace stagecraft
