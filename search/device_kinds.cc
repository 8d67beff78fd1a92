#include "search/device_kinds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stagecraft {

std::vector<int> DeviceKinds::Used(const std::vector<int>& group_devices) const {
  std::vector<int> kinds;
  for (size_t g = 0; g < group_devices.size(); ++g) {
    if (group_devices[g] > 0) kinds.push_back(of_groups[g]);
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

DeviceKinds KindsOf(const Cluster& cluster) {
  DeviceKinds kinds;
  const std::vector<Cluster::NodeGroup>& groups = cluster.groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto is_alike = [&](int first) {
      return groups[first].type.device == groups[g].type.device;
    };
    std::vector<int>& firsts = kinds.first_groups;
    const auto found = std::find_if(firsts.begin(), firsts.end(), is_alike);
    kinds.of_groups.push_back(static_cast<int>(found - firsts.begin()));
    if (found == firsts.end()) firsts.push_back(static_cast<int>(g));
  }
  return kinds;
}

std::vector<std::vector<int>> ChoicesOfKinds(int count) {
  std::vector<std::vector<int>> choices{{}};
  for (int kind = 0; kind < count; ++kind) {
    const size_t without = choices.size();
    for (size_t i = 0; i < without; ++i) {
      choices.push_back(choices[i]);
      choices.back().push_back(kind);
    }
  }
  choices.erase(choices.begin());
  std::stable_sort(choices.begin(), choices.end(),
                   [](const std::vector<int>& a, const std::vector<int>& b) {
                     return a.size() != b.size() ? a.size() < b.size() : a < b;
                   });
  return choices;
}

}  // namespace stagecraft
