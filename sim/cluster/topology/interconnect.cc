#include "sim/cluster/topology/interconnect.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

// Returns a link as wide as the widest join, so that the way to the gateway is never the
// bottleneck.
Link GatewayLink(const InterconnectSpec& spec, int fabric) {
  Link link;
  for (const FabricJoin& join : spec.joins) {
    if (join.from != fabric && join.to != fabric) continue;
    link.bandwidth = std::max({link.bandwidth, join.there.bandwidth, join.back.bandwidth});
  }
  return link;
}

}  // namespace

Interconnect::Interconnect(InterconnectSpec spec, std::vector<Nodes> nodes)
    : spec_(std::move(spec)), nodes_(std::move(nodes)) {
  const int count = static_cast<int>(spec_.fabrics.size());
  fabric_nodes_.assign(count, 0);
  std::vector<int> rails(count, 1);
  int node = 0;
  for (const Nodes& run : nodes_) {
    CHECK(run.fabric >= 0 && run.fabric < count);
    first_node_.push_back(node);
    first_index_.push_back(fabric_nodes_[run.fabric]);
    node += run.count;
    fabric_nodes_[run.fabric] += run.count;
    rails[run.fabric] = std::max(rails[run.fabric], static_cast<int>(run.rail_devices.size()));
  }
  first_switch_.push_back(0);
  first_link_.push_back(0);
  for (int f = 0; f < count; ++f) {
    fabrics_.emplace_back(spec_.fabrics[f], fabric_nodes_[f], rails[f], GatewayLink(spec_, f));
    first_switch_.push_back(first_switch_.back() + fabrics_[f].switch_count());
    first_link_.push_back(first_link_.back() + fabrics_[f].link_count());
  }
  FindNextJoins();
  if (!IsSingleSwitch(spec_)) CountDevices();
}

void Interconnect::CountDevices() {
  for (const SwitchedFabric& fabric : fabrics_) {
    leaf_devices_.emplace_back(fabric.leaf_count());
    pod_devices_.emplace_back(fabric.pod_count());
    fabric_devices_.push_back(0);
  }
  for (size_t run = 0; run < nodes_.size(); ++run) {
    const int f = nodes_[run].fabric;
    for (int i = 0; i < nodes_[run].count; ++i) {
      for (size_t rail = 0; rail < nodes_[run].rail_devices.size(); ++rail) {
        const int leaf = fabrics_[f].Leaf(first_index_[run] + i, static_cast<int>(rail));
        const int devices = nodes_[run].rail_devices[rail];
        leaf_devices_[f][leaf] += devices;
        pod_devices_[f][fabrics_[f].PodOfLeaf(leaf)] += devices;
        fabric_devices_[f] += devices;
      }
    }
  }
}

// Searches breadth first from every fabric: routes with the fewest joins win, then those listed
// first.
void Interconnect::FindNextJoins() {
  const int count = static_cast<int>(fabrics_.size());
  next_join_.assign(count, std::vector<int>(count, -1));
  for (int goal = 0; goal < count; ++goal) {
    std::vector<int> queue = {goal};
    for (size_t next = 0; next < queue.size(); ++next) {
      for (int j = 0; j < static_cast<int>(spec_.joins.size()); ++j) {
        const FabricJoin& join = spec_.joins[j];
        if (join.from != queue[next] && join.to != queue[next]) continue;
        const int other = join.from == queue[next] ? join.to : join.from;
        if (other == goal || next_join_[other][goal] >= 0) continue;
        next_join_[other][goal] = j;
        queue.push_back(other);
      }
    }
  }
}

std::string Interconnect::FindUnreachable() const {
  for (const Nodes& a : nodes_) {
    for (const Nodes& b : nodes_) {
      if (a.fabric == b.fabric || next_join_[a.fabric][b.fabric] >= 0) continue;
      return "no joins lead from " + spec_.fabrics[a.fabric].name + " to " +
             spec_.fabrics[b.fabric].name + ", want a way between any two nodes";
    }
  }
  return "";
}

std::string Interconnect::SwitchName(int index) const {
  const auto after = std::upper_bound(first_switch_.begin(), first_switch_.end(), index);
  const size_t f = static_cast<size_t>(after - first_switch_.begin()) - 1;
  return fabrics_[f].SwitchName(index - static_cast<int>(first_switch_[f]));
}

SwitchedFabric::Cable Interconnect::link(int index) const {
  if (index >= first_link_.back()) {
    const int64_t at = index - first_link_.back();
    const FabricJoin& join = spec_.joins[at / 2];
    const auto gateway = [&](int f) {
      return static_cast<int>(first_switch_[f]) + fabrics_[f].gateway();
    };
    if (at % 2 == 0) return {gateway(join.from), gateway(join.to), join.there};
    return {gateway(join.to), gateway(join.from), join.back};
  }
  const auto after = std::upper_bound(first_link_.begin(), first_link_.end(), index);
  const size_t f = static_cast<size_t>(after - first_link_.begin()) - 1;
  SwitchedFabric::Cable cable = fabrics_[f].link(index - static_cast<int>(first_link_[f]));
  cable.from += static_cast<int>(first_switch_[f]);
  cable.to += static_cast<int>(first_switch_[f]);
  return cable;
}

Interconnect::Place Interconnect::PlaceOf(int node) const {
  const auto after = std::upper_bound(first_node_.begin(), first_node_.end(), node);
  const size_t run = static_cast<size_t>(after - first_node_.begin()) - 1;
  return {nodes_[run].fabric, first_index_[run] + node - first_node_[run], &nodes_[run]};
}

int Interconnect::LeafOf(const Place& place, int rail) const {
  return fabrics_[place.fabric].Leaf(place.index, rail);
}

int Interconnect::SwitchOf(const Port& port) const {
  const Place place = PlaceOf(port.node);
  return static_cast<int>(first_switch_[place.fabric]) + LeafOf(place, port.rail);
}

std::vector<int> Interconnect::Path(const Port& from, const Port& to, uint64_t flow) const {
  const Place start = PlaceOf(from.node);
  const Place goal = PlaceOf(to.node);
  Hash hash;
  hash.Add(static_cast<int64_t>(spec_.ecmp_seed)).Add(static_cast<int64_t>(flow));
  const uint64_t choice = Random(hash.value()).Bits();
  std::vector<int> path;
  const auto shift = [&](size_t begin, int fabric) {
    for (size_t i = begin; i < path.size(); ++i) path[i] += static_cast<int>(first_link_[fabric]);
  };
  if (start.fabric == goal.fabric) {
    fabrics_[start.fabric].Cross(LeafOf(start, from.rail), LeafOf(goal, to.rail), choice, &path);
    shift(0, start.fabric);
    return path;
  }
  fabrics_[start.fabric].Leave(LeafOf(start, from.rail), choice, &path);
  shift(0, start.fabric);
  for (int at = start.fabric; at != goal.fabric;) {
    const int j = next_join_[at][goal.fabric];
    CHECK(j >= 0);
    const bool is_there = spec_.joins[j].from == at;
    path.push_back(static_cast<int>(first_link_.back()) + 2 * j + (is_there ? 0 : 1));
    at = is_there ? spec_.joins[j].to : spec_.joins[j].from;
  }
  const size_t entered = path.size();
  fabrics_[goal.fabric].Enter(LeafOf(goal, to.rail), choice, &path);
  shift(entered, goal.fabric);
  return path;
}

}  // namespace stagecraft
