#include "sim/job/cluster_event.h"

#include <fmt/core.h>

#include <cstddef>

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;
using What = ClusterEvent::What;

}  // namespace

Racks::Racks(const Cluster& cluster, int nodes_per_rack) {
  const int nodes = cluster.node_count();
  rack_.resize(static_cast<size_t>(nodes));
  const auto starts_rack = [&](int node) {
    if (node == 0) return true;
    if (nodes_per_rack > 0) return node % nodes_per_rack == 0;
    return cluster.domain(node) != cluster.domain(node - 1);
  };
  for (int node = 0; node < nodes; ++node) {
    if (starts_rack(node)) first_.push_back(node);
    rack_[node] = static_cast<int>(first_.size()) - 1;
  }
  if (nodes_per_rack == 0 && static_cast<int>(first_.size()) == nodes) first_.clear();
  first_.push_back(nodes);
}

std::string NameOf(const EventTarget& target, const Cluster& cluster) {
  switch (target.kind) {
    case Kind::kDevice:
      return cluster.DeviceName(target.index);
    case Kind::kNode:
      return fmt::format("node{}", target.index);
    case Kind::kLink:
      return cluster.LinkName(target.index);
    case Kind::kRack:
      break;
  }
  return fmt::format("rack{}", target.index);
}

std::string Describe(const ClusterEvent& event, const Cluster& cluster) {
  const std::string name = NameOf(event.target, cluster);
  switch (event.what) {
    case What::kSlow:
      return fmt::format("{} slowed to {} of its speed", name, event.rate);
    case What::kFail:
      return name + " failed";
    case What::kRecover:
      return name + " recovered";
    case What::kJoin:
      return name + " joined";
    case What::kLeave:
      break;
  }
  return name + " left";
}

}  // namespace stagecraft
