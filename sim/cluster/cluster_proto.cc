#include "sim/cluster/cluster_proto.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/physical_range.h"
#include "sim/cluster/link_graph.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/cluster/node_type_proto.h"
#include "sim/cluster/topology/fabric_proto.h"

namespace stagecraft {
namespace {

NodeType TypeOf(const NodeGroupProto& proto, const std::string& place) {
  const int given = (proto.node_type().empty() ? 0 : 1) + (proto.has_inline_node_type() ? 1 : 0) +
                    (proto.device().empty() ? 0 : 1);
  if (given != 1) {
    throw InputError(place + ".node_type: got " + std::to_string(given) +
                     " of node_type, inline_node_type and device, want exactly one");
  }
  const int used = proto.devices_per_node();
  const std::string used_key = place + ".devices_per_node";
  if (!proto.node_type().empty()) {
    const NodeEntry& entry = NodeCatalogue::Embedded().Get(proto.node_type(), place + ".node_type");
    return UseDevicesChecked(entry.type, used, used_key);
  }
  if (!proto.device().empty()) {
    const NodeType whole = ReferenceNode(proto.device(), 0, place + ".device");
    return UseDevicesChecked(whole, used, used_key);
  }
  const NodeType whole = NodeTypeFromProto(proto.inline_node_type(), place + ".inline_node_type");
  return UseDevicesChecked(whole, used, used_key);
}

// Returns the name of a fabric, or the one that it gets if it has none.
std::string FabricName(const SwitchedFabricProto& fabric) {
  return fabric.name().empty() ? FabricSpec().name : fabric.name();
}

// Returns fabrics that have nothing but their names, so that these can be found before the fabrics
// are worked out.
std::vector<FabricSpec> FabricNames(const ClusterProto& proto) {
  std::vector<FabricSpec> named;
  for (const SwitchedFabricProto& fabric : proto.fabrics()) {
    named.emplace_back().name = FabricName(fabric);
  }
  if (named.empty()) named.emplace_back();
  return named;
}

FabricDemand DemandOf(const std::vector<Cluster::NodeGroup>& groups, int fabric) {
  FabricDemand demand;
  for (const Cluster::NodeGroup& group : groups) {
    if (group.fabric != fabric) continue;
    const NodeType& type = group.type;
    const int rails = std::max(std::min(type.nics, type.devices), 1);
    demand.nodes += std::clamp(group.count, 0, Cluster::kMaxDevices);
    demand.rails = std::max(demand.rails, rails);
    demand.rail =
        std::max(demand.rail, (static_cast<double>(type.nics) / rails) * type.nic.bandwidth);
  }
  return demand;
}

InterconnectSpec InterconnectOf(const ClusterProto& proto,
                                const std::vector<Cluster::NodeGroup>& groups,
                                const std::string& file) {
  InterconnectSpec spec;
  spec.ecmp_seed = proto.ecmp_seed();
  if (proto.fabrics_size() > kMaxFabrics) {
    throw InputError(file + ": fabrics: got " + std::to_string(proto.fabrics_size()) +
                     ", want at most " + std::to_string(kMaxFabrics));
  }
  if (proto.fabrics_size() > 0) spec.fabrics.clear();
  for (int f = 0; f < proto.fabrics_size(); ++f) {
    const std::string place = file + ": fabrics[" + std::to_string(f) + "]";
    spec.fabrics.push_back(FabricFromProto(proto.fabrics(f), DemandOf(groups, f), place));
  }
  for (int j = 0; j < proto.fabric_joins_size(); ++j) {
    const std::string place = file + ": fabric_joins[" + std::to_string(j) + "]";
    spec.joins.push_back(FabricJoinFromProto(proto.fabric_joins(j), spec.fabrics, place));
  }
  return spec;
}

// Returns the index of "node1/gpu0" among the devices that `groups` give in order; -1 if there is
// none.
int FindDevice(const std::vector<Cluster::NodeGroup>& groups, const std::string& name) {
  int node = -1, local = -1;
  std::sscanf(name.c_str(), "node%7d/gpu%7d", &node, &local);
  const std::string read = "node" + std::to_string(node) + "/gpu" + std::to_string(local);
  if (name != read || node < 0 || local < 0) return -1;
  int64_t left = node, first = 0;  // nodes and devices before it; counts are not checked yet
  for (const Cluster::NodeGroup& group : groups) {
    if (left < group.count) {
      const int64_t device = first + left * group.type.devices + local;
      const bool is_one = local < group.type.devices && device < Cluster::kMaxDevices;
      return is_one ? static_cast<int>(device) : -1;
    }
    left -= group.count;
    first += int64_t{group.count} * group.type.devices;
  }
  return -1;
}

SharedMemory SharedMemoryFromProto(const SharedMemoryProto& proto,
                                   const std::vector<Cluster::NodeGroup>& groups,
                                   const std::string& place) {
  SharedMemory shared;
  for (int i = 0; i < proto.devices_size(); ++i) {
    shared.devices.push_back(FindDevice(groups, proto.devices(i)));
    if (shared.devices.back() >= 0) continue;
    throw InputError(place + ".devices[" + std::to_string(i) + "]: got \"" + proto.devices(i) +
                     "\", want a device of the cluster, as \"node0/gpu1\"");
  }
  CheckPhysical(place + ".bandwidth_bytes_per_s", proto.bandwidth_bytes_per_s(),
                MemoryBandwidthRange());
  shared.bandwidth = Bandwidth(proto.bandwidth_bytes_per_s());
  return shared;
}

void AddInterconnect(const InterconnectSpec& spec, ClusterProto* proto) {
  if (spec == InterconnectSpec()) return;
  proto->set_ecmp_seed(spec.ecmp_seed);
  for (const FabricSpec& fabric : spec.fabrics) *proto->add_fabrics() = ToProto(fabric);
  for (const FabricJoin& join : spec.joins) {
    *proto->add_fabric_joins() = ToProto(join, spec.fabrics);
  }
}

}  // namespace

Cluster ClusterFromProto(const ClusterProto& proto, const std::string& file) {
  const std::vector<FabricSpec> fabrics = FabricNames(proto);
  std::vector<Cluster::NodeGroup> groups;
  for (int i = 0; i < proto.node_groups_size(); ++i) {
    const std::string place = file + ": node_groups[" + std::to_string(i) + "]";
    const NodeGroupProto& group = proto.node_groups(i);
    const int fabric =
        group.fabric().empty() ? 0 : FindFabric(group.fabric(), fabrics, place + ".fabric");
    groups.push_back({TypeOf(group, place), group.count(), fabric});
  }
  std::vector<Cluster::ExplicitLink> links;
  for (int i = 0; i < proto.links_size(); ++i) {
    const std::string place = file + ": links[" + std::to_string(i) + "].link";
    links.push_back(
        {proto.links(i).from(), proto.links(i).to(), LinkFromProto(proto.links(i).link(), place)});
  }
  InterconnectSpec interconnect = InterconnectOf(proto, groups, file);
  std::vector<SharedMemory> shared;
  for (int i = 0; i < proto.shared_memory_size(); ++i) {
    const std::string place = file + ": shared_memory[" + std::to_string(i) + "]";
    shared.push_back(SharedMemoryFromProto(proto.shared_memory(i), groups, place));
  }
  return Cluster(proto.name().empty() ? file : proto.name(), std::move(groups), std::move(links),
                 file, std::move(interconnect), std::move(shared));
}

ClusterProto ToProto(const Cluster& cluster) {
  ClusterProto proto;
  proto.set_name(cluster.name());
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    NodeGroupProto* added = proto.add_node_groups();
    added->set_count(group.count);
    const NodeEntry* known = NodeCatalogue::Embedded().Find(group.type.id);
    if (known != nullptr && group.type.devices <= known->type.devices &&
        UseDevices(known->type, group.type.devices) == group.type) {
      added->set_node_type(group.type.id);
      added->set_devices_per_node(group.type.devices);
    } else {
      *added->mutable_inline_node_type() = ToProto(group.type);
    }
    if (group.fabric > 0) added->set_fabric(cluster.interconnect().fabrics[group.fabric].name);
  }
  AddInterconnect(cluster.interconnect(), &proto);
  for (const SharedMemory& shared : cluster.shared_memories()) {
    SharedMemoryProto* added = proto.add_shared_memory();
    for (const int device : shared.devices) added->add_devices(cluster.DeviceName(device));
    added->set_bandwidth_bytes_per_s(shared.bandwidth.bytes_per_s());
  }
  if (!cluster.has_explicit_links()) return proto;
  const LinkGraph& graph = cluster.link_graph();
  std::vector<ClusterLinkProto> links(num_edges(graph));
  const auto [begin, end] = edges(graph);
  for (auto edge = begin; edge != end; ++edge) {
    ClusterLinkProto& link = links[graph[*edge].index];
    link.set_from(graph[source(*edge, graph)].name);
    link.set_to(graph[target(*edge, graph)].name);
    *link.mutable_link() = ToProto(static_cast<const Link&>(graph[*edge]));
  }
  for (ClusterLinkProto& link : links) *proto.add_links() = std::move(link);
  return proto;
}

}  // namespace stagecraft
