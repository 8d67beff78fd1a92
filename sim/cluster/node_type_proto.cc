#include "sim/cluster/node_type_proto.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/enum_to_proto.h"
#include "costmodel/gpu_datasheet.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/missing_keys.h"

namespace stagecraft {
namespace {

// Both enums have the same order, except that the proto starts with "unspecified".
static_assert(static_cast<int>(Wiring::kSwitched) + 1 == NodeTypeProto::SWITCHED);
static_assert(static_cast<int>(Wiring::kCubeMesh) + 1 == NodeTypeProto::CUBE_MESH);
static_assert(static_cast<int>(Wiring::kAllPairs) + 1 == NodeTypeProto::ALL_PAIRS);
static_assert(static_cast<int>(Wiring::kPairs) + 1 == NodeTypeProto::PAIRS);
static_assert(static_cast<int>(Wiring::kPcie) + 1 == NodeTypeProto::PCIE);
static_assert(static_cast<int>(Wiring::kSingleCubeMesh) + 1 == NodeTypeProto::SINGLE_CUBE_MESH);

Wiring WiringFromProto(NodeTypeProto::Wiring wiring, const std::string& place) {
  if (wiring < NodeTypeProto::SWITCHED || wiring > NodeTypeProto::SINGLE_CUBE_MESH) {
    throw InputError(place + ".wiring: got " +
                     (wiring == 0 ? std::string("none") : std::to_string(wiring)) +
                     ", want SWITCHED, CUBE_MESH, ALL_PAIRS, PAIRS, PCIE or SINGLE_CUBE_MESH");
  }
  return static_cast<Wiring>(wiring - 1);
}

Device DeviceOf(const NodeTypeProto& proto, const std::string& place) {
  const int given = !proto.device().empty() + proto.has_inline_device() + proto.has_datasheet();
  if (given != 1) {
    throw InputError(place + ".device: got " + (given == 0 ? "none" : "several") +
                     ", want one of device, inline_device and datasheet");
  }
  if (proto.has_datasheet()) return DeviceFromDatasheet(proto.datasheet(), place + ".datasheet");
  if (proto.has_inline_device()) {
    return DeviceFromProto(proto.inline_device(), place + ".inline_device");
  }
  return DeviceCatalogue::Embedded().Get(proto.device(), place + ".device").device;
}

// Throws an InputError that names all keys that are missing, those of parts included, if there are
// several.
void CheckMissing(const NodeTypeProto& proto, const std::string& place) {
  MissingKeys missing;
  missing.Want("id", !proto.id().empty());
  missing.Want("device",
               !proto.device().empty() || proto.has_inline_device() || proto.has_datasheet());
  if (proto.has_inline_device()) {
    missing.WantInside("inline_device", MissingIn(proto.inline_device()));
  }
  if (proto.has_datasheet()) missing.WantInside("datasheet", MissingIn(proto.datasheet()));
  missing.Want("devices", proto.devices() != 0);
  missing.Want("wiring", proto.wiring() != NodeTypeProto::WIRING_UNSPECIFIED);
  missing.Want("intra", proto.has_intra());
  if (proto.has_intra()) missing.WantInside("intra", MissingIn(proto.intra()));
  if (proto.has_nic()) missing.WantInside("nic", MissingIn(proto.nic()));
  missing.Check(place + ".");
}

std::vector<int> PlacesOf(const google::protobuf::RepeatedField<int>& given, int count,
                          int places) {
  if (given.empty()) return SpreadEvenly(count, places);
  return {given.begin(), given.end()};
}

std::vector<Link> UplinksOf(const PcieTreeProto& proto, const std::string& place) {
  if (proto.uplinks().empty()) {
    return std::vector<Link>(proto.switches(), LinkFromProto(proto.uplink(), place + ".uplink"));
  }
  if (proto.has_uplink()) {
    throw InputError(place + ".uplinks: got uplink too, want only one of them");
  }
  std::vector<Link> uplinks;
  for (const LinkProto& uplink : proto.uplinks()) {
    uplinks.push_back(
        LinkFromProto(uplink, place + ".uplinks[" + std::to_string(uplinks.size()) + "]"));
  }
  return uplinks;
}

PcieTree PcieTreeFromProto(const PcieTreeProto& proto, const NodeType& type,
                           const std::string& place) {
  PcieTree tree;
  if (proto.switches() < 1 || proto.switches() > kMaxDevicesPerNode) {
    throw InputError(place + ".switches: got " + std::to_string(proto.switches()) +
                     ", want from 1 to " + std::to_string(kMaxDevicesPerNode));
  }
  tree.roots = proto.roots() == 0 ? 1 : proto.roots();
  if (tree.roots < 1 || tree.roots > proto.switches()) {
    throw InputError(place + ".roots: got " + std::to_string(tree.roots) +
                     ", want from 1 to the number of switches");
  }
  tree.switch_root = PlacesOf(proto.switch_root(), proto.switches(), tree.roots);
  tree.device_switch = PlacesOf(proto.device_switch(), type.devices, proto.switches());
  tree.nic_switch = PlacesOf(proto.nic_switch(), type.nics, proto.switches());
  tree.uplinks = UplinksOf(proto, place);
  if (proto.has_root_link())
    tree.root_link = LinkFromProto(proto.root_link(), place + ".root_link");
  return tree;
}

PcieTreeProto ToProto(const PcieTree& tree) {
  PcieTreeProto proto;
  proto.set_switches(tree.switches());
  proto.set_roots(tree.roots);
  const bool are_alike = std::all_of(tree.uplinks.begin(), tree.uplinks.end(),
                                     [&](const Link& link) { return link == tree.uplinks[0]; });
  if (are_alike) *proto.mutable_uplink() = ToProto(tree.uplinks[0]);
  for (const Link& uplink : tree.uplinks) {
    if (!are_alike) *proto.add_uplinks() = ToProto(uplink);
  }
  if (tree.root_link.bandwidth.bytes_per_s() > 0) {
    *proto.mutable_root_link() = ToProto(tree.root_link);
  }
  proto.mutable_switch_root()->Add(tree.switch_root.begin(), tree.switch_root.end());
  proto.mutable_device_switch()->Add(tree.device_switch.begin(), tree.device_switch.end());
  proto.mutable_nic_switch()->Add(tree.nic_switch.begin(), tree.nic_switch.end());
  return proto;
}

// Returns whether the counts are in range on which the PCIe tree depends, so that it can be read.
bool CountsAreSound(const NodeType& type) {
  return type.devices >= 1 && type.devices <= kMaxDevicesPerNode && type.nics >= 0 &&
         type.nics <= kMaxDevicesPerNode;
}

}  // namespace

NodeType NodeTypeFromProto(const NodeTypeProto& proto, const std::string& place) {
  CheckMissing(proto, place);
  if (proto.id().empty()) throw InputError(place + ".id: got none, want a name");
  NodeType type;
  type.id = proto.id();
  type.device = DeviceOf(proto, place);
  type.devices = proto.devices();
  type.idle_devices = proto.idle_devices();
  if (type.idle_devices < 0 || type.idle_devices > kMaxDevicesPerNode) {
    throw InputError(place + ".idle_devices: got " + std::to_string(type.idle_devices) +
                     ", want from 0 to " + std::to_string(kMaxDevicesPerNode));
  }
  type.wiring = WiringFromProto(proto.wiring(), place);
  type.intra = LinkFromProto(proto.intra(), place + ".intra");
  type.domain = proto.domain();
  type.domain_nodes = proto.domain_nodes() == 0 ? 1 : proto.domain_nodes();
  if (proto.has_fallback()) type.fallback = LinkFromProto(proto.fallback(), place + ".fallback");
  type.nics = proto.nics();
  if (proto.has_nic()) type.nic = LinkFromProto(proto.nic(), place + ".nic");
  type.nvls = proto.nvls();
  if (proto.has_pcie() && CountsAreSound(type)) {
    type.pcie = PcieTreeFromProto(proto.pcie(), type, place + ".pcie");
  }
  const std::vector<std::string> errors = FindErrors(type);
  if (!errors.empty()) throw InputError(place + "." + errors[0]);
  type.domain = DomainSize(type);
  return type;
}

NodeTypeProto ToProto(const NodeType& type) {
  NodeTypeProto proto;
  proto.set_id(type.id);
  const DeviceEntry* known = DeviceCatalogue::Embedded().Find(type.device.id);
  if (known != nullptr && known->device == type.device) {
    proto.set_device(type.device.id);
  } else {
    *proto.mutable_inline_device() = ToProto(type.device);
  }
  proto.set_devices(type.devices);
  proto.set_idle_devices(type.idle_devices);
  proto.set_wiring(EnumToProto<NodeTypeProto::Wiring>(type.wiring));
  *proto.mutable_intra() = ToProto(type.intra);
  proto.set_domain(type.domain);
  if (type.domain_nodes > 1) proto.set_domain_nodes(type.domain_nodes);
  if (type.fallback.bandwidth.bytes_per_s() > 0) {
    *proto.mutable_fallback() = ToProto(type.fallback);
  }
  proto.set_nics(type.nics);
  if (type.nic.bandwidth.bytes_per_s() > 0) *proto.mutable_nic() = ToProto(type.nic);
  proto.set_nvls(type.nvls);
  if (!type.pcie.empty()) *proto.mutable_pcie() = ToProto(type.pcie);
  return proto;
}

}  // namespace stagecraft
