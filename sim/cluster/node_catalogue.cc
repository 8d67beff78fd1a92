#include "sim/cluster/node_catalogue.h"

#include <set>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "sim/cluster/node_type_proto.h"

namespace stagecraft {
namespace {

constexpr char kEmbeddedName[] = "nodes.textproto";

}  // namespace

const NodeCatalogue& NodeCatalogue::Embedded() {
  static const NodeCatalogue catalogue =
      Parse(std::string(EmbeddedFile(kEmbeddedName)), kEmbeddedName, ".textproto");
  return catalogue;
}

NodeCatalogue NodeCatalogue::Parse(const std::string& text, const std::string& name,
                                   const std::string& extension) {
  NodeCatalogueProto proto;
  ParseProtoText(text, name, extension, &proto);
  NodeCatalogue catalogue;
  std::set<std::string> ids;
  for (int i = 0; i < proto.nodes_size(); ++i) {
    const NodeTypeProto& node = proto.nodes(i);
    const std::string place = name + ": nodes[" + std::to_string(i) + "]";
    if (!ids.insert(node.id()).second) {
      throw InputError(place + ".id: got \"" + node.id() + "\", want an id that no other node has");
    }
    catalogue.entries_.push_back({NodeTypeFromProto(node, place),
                                  node.name(),
                                  node.provenance(),
                                  {node.sources().begin(), node.sources().end()}});
  }
  return catalogue;
}

const NodeEntry* NodeCatalogue::Find(std::string_view id) const {
  for (const NodeEntry& entry : entries_) {
    if (entry.type.id == id) return &entry;
  }
  return nullptr;
}

const NodeEntry& NodeCatalogue::Get(const std::string& id, const std::string& place) const {
  if (const NodeEntry* entry = Find(id)) return *entry;
  std::vector<std::string> known;
  for (const NodeEntry& entry : entries_) known.push_back(entry.type.id);
  const std::string suggestion = NearestNames(id, known);
  throw InputError(place + ": unknown node type \"" + id + "\"" +
                   (suggestion.empty() ? ", want one of the catalogue" : "; " + suggestion));
}

NodeType UseDevicesChecked(const NodeType& type, int devices_per_node, const std::string& place) {
  if (devices_per_node < 0 || devices_per_node > type.devices) {
    throw InputError(place + ": got " + std::to_string(devices_per_node) +
                     " devices per node, want from 1 to the " + std::to_string(type.devices) +
                     " of a " + type.id);
  }
  return devices_per_node == 0 ? type : UseDevices(type, devices_per_node);
}

NodeType ReferenceNode(const std::string& gpu, int devices_per_node, const std::string& place) {
  const DeviceEntry& entry = DeviceCatalogue::Embedded().Get(gpu, place);
  if (entry.reference_node.empty()) {
    throw InputError(place + ": the catalogue has no reference node for " + entry.device.id +
                     ", want NODE_ID:N or a cluster file that says how it is wired");
  }
  const NodeEntry& node = NodeCatalogue::Embedded().Get(entry.reference_node, place);
  return UseDevicesChecked(node.type, devices_per_node, place);
}

}  // namespace stagecraft
