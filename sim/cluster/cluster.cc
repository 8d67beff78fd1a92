#include "sim/cluster/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "sim/cluster/group_fabrics.h"
#include "sim/cluster/link_graph.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxLinks = 1 << 28;

void CheckLinks(int64_t links, const std::string& key) {
  if (links <= kMaxLinks) return;
  throw InputError(key + ": got " + std::to_string(links) + " links in all, want " +
                   std::to_string(kMaxLinks) + " at most");
}

void Narrow(const Link& link, Route* route) {
  const bool first = !(route->narrowest.bandwidth.bytes_per_s() > 0);
  if (first || link.bandwidth < route->narrowest.bandwidth) {
    route->narrowest.kind = link.kind;
    route->narrowest.bandwidth = link.bandwidth;
    route->narrowest.network = link.network;
  }
  route->narrowest.latency += link.latency;
}

}  // namespace

Cluster::Cluster(std::string name, std::vector<NodeGroup> groups, std::vector<ExplicitLink> links,
                 const std::string& place, InterconnectSpec interconnect,
                 std::vector<SharedMemory> shared_memories)
    : name_(std::move(name)),
      groups_(std::move(groups)),
      shared_memories_(std::move(shared_memories)),
      has_explicit_links_(!links.empty()),
      graph_(NewGraph()) {
  const std::string opening = place.empty() ? name_ : place;
  CheckGroups(opening);
  AddNodes(opening);
  BuildInterconnect(std::move(interconnect), opening);
  if (has_explicit_links_) BuildExplicit(links, opening);
  TakeSharedMemories(opening);
}

Cluster Cluster::WithDevices(const std::function<void(Device&)>& change) const {
  Cluster changed = *this;
  for (NodeGroup& group : changed.groups_) change(group.type.device);
  return changed;
}

Cluster Cluster::WithNetwork(NetworkKind kind, const std::string& place) const {
  if (has_explicit_links()) {
    throw InputError(place +
                     ": the file of the cluster gives every link, want it to say there what "
                     "the network speaks");
  }
  std::vector<NodeGroup> groups = groups_;
  for (NodeGroup& group : groups) {
    if (group.type.nics == 0) continue;
    group.type.nic.network = kind;
    group.type.nic.latency = UsualLatency(kind);
  }
  return Cluster(name_, std::move(groups), {}, place, interconnect(), shared_memories_)
      .WithSlowParts(slow_);
}

Cluster Cluster::WithSlowParts(SlowParts parts) const {
  Cluster slowed = *this;
  slowed.slow_ = std::move(parts);
  return slowed;
}

double Cluster::RateOf(int part, const std::vector<std::pair<int, double>>& rates) {
  const auto found = std::lower_bound(
      rates.begin(), rates.end(), part,
      [](const std::pair<int, double>& entry, int sought) { return entry.first < sought; });
  return found != rates.end() && found->first == part ? found->second : 1;
}

void Cluster::CheckGroups(const std::string& place) const {
  int64_t devices = 0;
  int64_t nodes = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const std::string key = place + ": node_groups[" + std::to_string(i) + "].";
    const std::vector<std::string> errors = FindErrors(groups_[i].type);
    if (!errors.empty()) throw InputError(key + "type." + errors[0]);
    if (groups_[i].count < 1 || groups_[i].count > kMaxDevices) {
      throw InputError(key + "count: got " + std::to_string(groups_[i].count) +
                       ", want from 1 to " + std::to_string(kMaxDevices));
    }
    nodes += groups_[i].count;
    devices += int64_t{groups_[i].count} * groups_[i].type.devices;
    if (devices > kMaxDevices) {
      throw InputError(key + "count: got " + std::to_string(devices) + " devices in all, want " +
                       std::to_string(kMaxDevices) + " at most");
    }
  }
  if (nodes == 0) throw InputError(place + ": node_groups: got none, want at least one node");
  for (size_t i = 0; i < groups_.size() && nodes > 1 && !has_explicit_links_; ++i) {
    if (groups_[i].type.nics > 0) continue;
    throw InputError(place + ": node_groups[" + std::to_string(i) + "].type.nics: got 0 for " +
                     groups_[i].type.id + ", want > 0 in a cluster of " + std::to_string(nodes) +
                     " nodes");
  }
}

void Cluster::AddNodes(const std::string& place) {
  int64_t links = 0;
  for (size_t group = 0; group < groups_.size(); ++group) {
    wirings_.emplace_back(groups_[group].type);
    first_node_.push_back(node_count());
    first_link_.push_back(static_cast<int>(links));
    links += groups_[group].count * std::ssize(wirings_[group].cables());
    CheckLinks(links, place + ": node_groups[" + std::to_string(group) + "].count");
    const int domain_nodes = has_explicit_links_ ? 1 : groups_[group].type.domain_nodes;
    for (int i = 0; i < groups_[group].count; ++i) {
      const int node = node_count();
      const bool opens_domain = i % domain_nodes == 0;
      domain_.push_back(node == 0 ? 0 : domain_.back() + (opens_domain ? 1 : 0));
      first_device_.push_back(device_count());
      node_type_.push_back(static_cast<int>(group));
      for (int local = 0; local < groups_[group].type.devices; ++local) {
        places_.push_back({node, local});
      }
    }
  }
  first_fabric_link_ = static_cast<int>(links);
}

void Cluster::BuildInterconnect(InterconnectSpec spec, const std::string& place) {
  const std::vector<std::string> errors = FindErrors(spec);
  if (!errors.empty()) throw InputError(place + ": " + errors[0]);
  std::vector<Interconnect::Nodes> nodes;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].fabric < 0 || groups_[i].fabric >= std::ssize(spec.fabrics)) {
      throw InputError(
          place + ": node_groups[" + std::to_string(i) +
          "].fabric: got a number that no fabric has, want that of a fabric of the cluster");
    }
    nodes.push_back({groups_[i].fabric, groups_[i].count, wirings_[i].RailDevices()});
  }
  const auto built = std::make_shared<Interconnect>(std::move(spec), std::move(nodes));
  const int64_t links = first_fabric_link_ + built->link_count();
  CheckLinks(links, place + ": fabrics");
  const std::string unreachable = has_explicit_links_ ? "" : built->FindUnreachable();
  if (!unreachable.empty()) throw InputError(place + ": fabric_joins: " + unreachable);
  link_count_ = static_cast<int>(links);
  interconnect_ = built;
}

void Cluster::TakeSharedMemories(const std::string& place) {
  if (shared_memories_.empty()) return;
  shared_memory_.assign(places_.size(), -1);
  for (size_t i = 0; i < shared_memories_.size(); ++i) {
    SharedMemory& shared = shared_memories_[i];
    const std::string key = place + ": shared_memory[" + std::to_string(i) + "].";
    std::sort(shared.devices.begin(), shared.devices.end());
    if (shared.devices.size() < 2) {
      throw InputError(key + "devices: got " + std::to_string(shared.devices.size()) +
                       ", want two or more");
    }
    if (!(shared.bandwidth.bytes_per_s() > 0)) {
      throw InputError(key + "bandwidth_bytes_per_s: got none, want > 0");
    }
    for (const int device : shared.devices) {
      CHECK(device >= 0 && device < device_count());
      if (shared_memory_[device] >= 0) {
        throw InputError(key + "devices: got " + DeviceName(device) + " twice, want it in one");
      }
      shared_memory_[device] = static_cast<int>(i);
    }
  }
}

bool Cluster::homogeneous() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [&](const NodeGroup& group) { return group.type == groups_[0].type; });
}

Port Cluster::port(int device) const {
  const DevicePlace at = places_[device];
  return {at.node, wiring(at.node).rail(at.local)};
}

Route Cluster::FindRoute(int from, int to, int flow) const {
  CHECK(from != to && from >= 0 && to >= 0 && from < device_count() && to < device_count());
  if (!has_explicit_links_) return GeneratedRoute(from, to, flow);
  Route route = FindGraphRoute(link_graph(), from, to);
  route.crosses_domains = domain_[places_[from].node] != domain_[places_[to].node];
  return route;
}

Route Cluster::GeneratedRoute(int from, int to, int flow) const {
  const DevicePlace start = places_[from];
  const DevicePlace goal = places_[to];
  Route route;
  route.crosses_domains = domain_[start.node] != domain_[goal.node];
  const auto pass = [&](int node, const std::vector<int>& cables) {
    for (const int cable : cables) {
      route.links.push_back(link_base(node) + cable);
      Narrow(wiring(node).cables()[cable].link, &route);
    }
  };
  if (route.crosses_domains) {
    pass(start.node, wiring(start.node).Leaving(start.local));
    const uint64_t key = Hash().Add(from).Add(to).Add(flow).value();
    for (const int link : interconnect_->Path(port(from), port(to), key)) {
      route.links.push_back(first_fabric_link_ + link);
      Narrow(interconnect_->link(link).link, &route);
    }
    pass(goal.node, wiring(goal.node).Entering(goal.local));
  } else if (start.node != goal.node) {
    pass(start.node, {wiring(start.node).ToDomainSwitch(start.local)});
    pass(goal.node, {wiring(goal.node).FromDomainSwitch(goal.local)});
  } else {
    pass(start.node, wiring(start.node).Inside(start.local, goal.local));
  }
  return route;
}

int64_t Cluster::PairClass(int from, int to) const {
  const int64_t devices = device_count();
  const bool are_alike = !has_explicit_links_ && slow_.links.empty();
  if (!are_alike || !IsSingleSwitch(interconnect_->spec())) return from * devices + to;
  // The class of a pair: each end's place in its node and the kind of that node, and what lies
  // between.
  const DevicePlace start = places_[from];
  const DevicePlace goal = places_[to];
  const int64_t first = first_device(first_node_[device_group(from)]) + start.local;
  const int64_t last = first_device(first_node_[device_group(to)]) + goal.local;
  const bool crosses = domain_[start.node] != domain_[goal.node];
  const int64_t between = crosses ? 0 : start.node != goal.node ? 1 : 2;
  return (between * devices + first) * devices + last;
}

Fabric Cluster::DescribeGroup(std::span<const int> devices, Traffic traffic) const {
  return GroupFabrics(*this).OfGroup(devices, traffic);
}

Fabric Cluster::DescribePair(int from, int to, int concurrent) const {
  return GroupFabrics(*this).OfPair(from, to, concurrent);
}

}  // namespace stagecraft
