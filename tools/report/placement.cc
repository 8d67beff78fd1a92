#include "tools/report/placement.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace stagecraft {
namespace {

std::vector<std::string> RangesOf(const std::vector<int>& devices, const Cluster& cluster) {
  std::vector<std::string> ranges;
  for (size_t first = 0; first < devices.size();) {
    const int node = cluster.place(devices[first]).node;
    size_t end = first + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1 &&
           cluster.place(devices[end]).node == node) {
      ++end;
    }
    std::string range = cluster.DeviceName(devices[first]);
    if (end - first > 1) range += fmt::format("-{}", cluster.place(devices[end - 1]).local);
    ranges.push_back(std::move(range));
    first = end;
  }
  return ranges;
}

}  // namespace

nlohmann::ordered_json PlacementToJson(const Plan& plan, const Cluster& cluster) {
  nlohmann::ordered_json placement = nlohmann::ordered_json::array();
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const std::vector<std::vector<int>>& replicas = plan.stages[stage].replicas;
    for (size_t replica = 0; replica < replicas.size(); ++replica) {
      placement.push_back({{"stage", stage},
                           {"replica", replica},
                           {"devices", RangesOf(replicas[replica], cluster)}});
    }
  }
  return placement;
}

}  // namespace stagecraft
