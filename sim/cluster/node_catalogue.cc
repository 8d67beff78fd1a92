#include "sim/cluster/node_catalogue.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/nearest.h"
#include "costmodel/proto_file.h"
#include "costmodel/usual_links.h"
#include "data/embedded.h"
#include "sim/cluster/node_type_proto.h"

namespace stagecraft {
namespace {

constexpr char kEmbeddedName[] = "nodes.textproto";

// A node of a GPU type for which the catalogue has none has as many GPUs as nearly all of its node
// types have, in slots of a PCIe generation that these have.
constexpr int kAssumedDevices = 8;
constexpr int kOldestPcie = 3, kNewestPcie = 5;

// GPUs that are sold in nodes which join them have one in the catalogue; the others are cards, and
// bridges between pairs of cards are an option, which is not assumed.
NodeType AssumedNode(const DeviceEntry& entry) {
  const int pcie = std::clamp(entry.pcie_generation, kOldestPcie, kNewestPcie);
  NodeType type;
  type.id = "node of " + entry.device.id;
  type.device = entry.device;
  type.devices = kAssumedDevices;
  type.wiring = Wiring::kPcie;
  type.intra = entry.blocks_peer_access ? LinkThroughHost()
                                        : Link{LinkKind::kPcie, kPcieLatency, PcieBandwidth(pcie)};
  type.nics = 1;
  type.nic = {LinkKind::kNetwork, UsualLatency(NetworkKind::kEthernet), Bandwidth(12.5e9),
              NetworkKind::kEthernet};
  type.domain = DomainSize(type);
  return type;
}

}  // namespace

const NodeCatalogue& NodeCatalogue::Embedded() {
  static const NodeCatalogue catalogue = Parse(std::string(EmbeddedNodes()), kEmbeddedName, ".pb");
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
    return UseDevicesChecked(AssumedNode(entry), devices_per_node, place);
  }
  const NodeEntry& node = NodeCatalogue::Embedded().Get(entry.reference_node, place);
  return UseDevicesChecked(node.type, devices_per_node, place);
}

std::string NoteOnReferenceNode(const std::string& gpu) {
  const DeviceEntry* const entry = DeviceCatalogue::Embedded().Find(gpu);
  if (entry == nullptr || !entry->reference_node.empty()) return "";
  const NodeType type = AssumedNode(*entry);
  const double gigabits = type.nic.bandwidth.bytes_per_s() * 8e-9;
  return fmt::format(
      "the catalogue has no node type with {}: assumed is a node of {} on PCIe of {:.4g} GB/s per "
      "GPU, with 1 network interface of {:.4g} Gbit/s; a cluster file can say how it is wired",
      entry->device.id, type.devices, type.intra.bandwidth.bytes_per_s() * 1e-9, gigabits);
}

}  // namespace stagecraft
