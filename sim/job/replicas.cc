#include "sim/job/replicas.h"

#include <algorithm>

namespace stagecraft {
namespace {

bool Has(std::span<const int> ascending, int value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

}  // namespace

std::vector<int> LiveReplicas(const std::vector<std::vector<int>>& replicas,
                              const ClusterState& state) {
  std::vector<int> live;
  for (int replica = 0; replica < std::ssize(replicas); ++replica) {
    const auto is_down = [&](int device) { return Has(state.down, device); };
    if (std::none_of(replicas[replica].begin(), replicas[replica].end(), is_down)) {
      live.push_back(replica);
    }
  }
  return live;
}

std::vector<int> IdleDevices(const std::vector<std::vector<int>>& replicas,
                             std::span<const int> working, const ClusterState& state) {
  std::vector<int> idle;
  for (int replica = 0; replica < std::ssize(replicas); ++replica) {
    if (Has(working, replica)) continue;
    for (const int device : replicas[replica]) {
      if (!Has(state.down, device)) idle.push_back(device);
    }
  }
  std::sort(idle.begin(), idle.end());
  return idle;
}

}  // namespace stagecraft
