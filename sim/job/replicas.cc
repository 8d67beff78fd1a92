#include "sim/job/replicas.h"

#include <algorithm>

namespace stagecraft {

std::vector<int> LiveReplicas(const std::vector<std::vector<int>>& replicas,
                              const ClusterState& state) {
  const auto is_down = [&](int device) {
    return std::binary_search(state.down.begin(), state.down.end(), device);
  };
  std::vector<int> live;
  for (int replica = 0; replica < std::ssize(replicas); ++replica) {
    if (std::none_of(replicas[replica].begin(), replicas[replica].end(), is_down)) {
      live.push_back(replica);
    }
  }
  return live;
}

}  // namespace stagecraft
