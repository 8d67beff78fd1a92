#include "sim/cluster_proto.h"

#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "sim/node_catalogue.h"
#include "sim/node_type_proto.h"

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

}  // namespace

Cluster ClusterFromProto(const ClusterProto& proto, const std::string& file) {
  std::vector<Cluster::NodeGroup> groups;
  for (int i = 0; i < proto.node_groups_size(); ++i) {
    const std::string place = file + ": node_groups[" + std::to_string(i) + "]";
    const NodeGroupProto& group = proto.node_groups(i);
    groups.push_back({TypeOf(group, place), group.count()});
  }
  std::vector<Cluster::ExplicitLink> links;
  for (int i = 0; i < proto.links_size(); ++i) {
    const std::string place = file + ": links[" + std::to_string(i) + "].link";
    links.push_back(
        {proto.links(i).from(), proto.links(i).to(), LinkFromProto(proto.links(i).link(), place)});
  }
  return Cluster(proto.name().empty() ? file : proto.name(), std::move(groups), std::move(links),
                 file);
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
