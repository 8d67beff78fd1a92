#include "sim/cluster/cluster_scale.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

void Widen(Link& link, double factor) { link.bandwidth = factor * link.bandwidth; }

void Widen(NodeType& type, const ClusterScale& scale) {
  Widen(type.nic, scale.network);
  for (Link* link : {&type.intra, &type.fallback, &type.pcie.root_link}) Widen(*link, scale.links);
  for (Link& uplink : type.pcie.uplinks) Widen(uplink, scale.links);
}

InterconnectSpec Widened(InterconnectSpec spec, double factor) {
  for (FabricSpec& fabric : spec.fabrics) {
    for (FabricTier& tier : fabric.tiers) {
      Widen(tier.up, factor);
      Widen(tier.down, factor);
    }
  }
  for (FabricJoin& join : spec.joins) {
    Widen(join.there, factor);
    Widen(join.back, factor);
  }
  return spec;
}

}  // namespace

Cluster Scaled(const Cluster& cluster, const ClusterScale& scale, const std::string& place) {
  Cluster scaled = cluster;
  if (scale.network != 1 || scale.links != 1) {
    if (cluster.has_explicit_links()) {
      throw InputError(place +
                       ": the file of the cluster gives every link, want it to say there how wide "
                       "they are");
    }
    std::vector<Cluster::NodeGroup> groups = cluster.groups();
    for (Cluster::NodeGroup& group : groups) Widen(group.type, scale);
    const auto shared = cluster.shared_memories();
    scaled = Cluster(cluster.name(), std::move(groups), {}, place,
                     Widened(cluster.interconnect(), scale.network), {shared.begin(), shared.end()})
                 .WithSlowParts(cluster.slow_parts());
  }
  if (scale.memory == 1) return scaled;
  return scaled.WithDevices([&](Device& device) {
    const double bytes = scale.memory * static_cast<double>(device.memory.count());
    device.memory = Bytes(std::llround(bytes));
  });
}

ClusterScale ParseClusterScale(const std::string& text, const std::string& place) {
  ClusterScale scale;
  if (text.empty()) return scale;
  std::vector<std::string_view> seen;
  for (const std::string_view part : SplitAt(text, ',')) {
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    double* const value = name == "network"  ? &scale.network
                          : name == "links"  ? &scale.links
                          : name == "memory" ? &scale.memory
                                             : nullptr;
    std::optional<double> factor;
    if (equals != std::string_view::npos) factor = ParseNumber<double>(part.substr(equals + 1));
    if (value == nullptr || !factor || !(*factor >= kLeastScale && *factor <= kMostScale)) {
      throw InputError(fmt::format(
          "{}: got \"{}\", want network, links or memory with a factor of {:g} to {:g}, such as "
          "network=0.5",
          place, part, kLeastScale, kMostScale));
    }
    for (const std::string_view other : seen) {
      if (other != name) continue;
      throw InputError(fmt::format("{}: got {} twice, want it once", place, name));
    }
    seen.push_back(name);
    *value = *factor;
  }
  return scale;
}

}  // namespace stagecraft
