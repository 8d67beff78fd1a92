#include "tools/validation/row_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/text.h"
#include "costmodel/usual_links.h"
#include "sim/cluster/node_catalogue.h"

namespace stagecraft {
namespace {

constexpr Bandwidth kPcie3 = PcieBandwidth(3);
constexpr Bandwidth kPcie4 = PcieBandwidth(4);
constexpr Bandwidth kPcie5 = PcieBandwidth(5);
constexpr int kNvl72Nodes = 18;  // 72 GPUs in nodes of 4
// GPUs whose NVLink is an optional bridge, like the A30, have at most this bandwidth.
constexpr Bandwidth kWidestOptionalBridge(100e9);
// The network that is assumed if a row states none and its GPU type has no reference node: nodes of
// GPUs that no vendor sells in nodes are workstations and desktop computers.
constexpr Bandwidth kUnstatedNetwork = FromGbit(10);
// One TCP connection between machines of a cloud carries this much (AWS, "Amazon EC2 instance
// network bandwidth": 5 Gbit/s a flow outside of a placement group). NCCL opens one to each
// neighbour; since the versions that PyTorch ships from 2021 on (2.7 and later) it opens two
// threads with eight connections each on AWS (NCCL documentation, NCCL_SOCKET_NTHREADS and
// NCCL_NSOCKS_PERTHREAD).
constexpr double kConnectionGbit = 5;
constexpr int kConnections = 16;
constexpr std::string_view kManyConnectionsSince = "2021-01";

int TcpConnections(const MeasuredRow& row) {
  return row.software_date >= kManyConnectionsSince ? kConnections : 1;
}

// The wirings that a row can name. `box` is the number of devices of a whole node.
struct IntraKind {
  const char* name;
  Wiring wiring;
  Bandwidth intra;  // one direction, all links of a device
  Bandwidth pcie;
  int box;
  bool nvls;
  int domain_nodes = 1;
};
constexpr IntraKind kIntraKinds[] = {
    {"nvlink2-cube-mesh", Wiring::kCubeMesh, Bandwidth(150e9), kPcie3, 8, false},
    {"nvlink2-nvswitch", Wiring::kSwitched, Bandwidth(150e9), kPcie3, 8, false},
    {"nvlink2-all-pairs", Wiring::kAllPairs, Bandwidth(150e9), kPcie3, 4, false},
    {"nvlink3-nvswitch", Wiring::kSwitched, Bandwidth(300e9), kPcie4, 8, false},
    {"nvlink3-bridge", Wiring::kPairs, Bandwidth(300e9), kPcie4, 2, false},
    {"nvlink4-nvswitch", Wiring::kSwitched, Bandwidth(450e9), kPcie5, 8, true},
    {"nvlink4-all-pairs", Wiring::kAllPairs, Bandwidth(450e9), kPcie5, 4, false},
    {"nvlink5-nvswitch", Wiring::kSwitched, Bandwidth(900e9), kPcie5, 8, true},
    {"nvlink5-nvl72", Wiring::kSwitched, Bandwidth(900e9), kPcie5, 4, true, kNvl72Nodes},
    // Seven links of 64 GB/s (AMD Instinct MI300X datasheet).
    {"infinity-fabric", Wiring::kAllPairs, Bandwidth(448e9), kPcie5, 8, false},
    {"pcie3", Wiring::kPcie, kPcie3, kPcie3, 1, false},
    {"pcie4", Wiring::kPcie, kPcie4, kPcie4, 1, false},
    {"pcie5", Wiring::kPcie, kPcie5, kPcie5, 1, false},
};

// The wiring of a PCIe generation. Servers have slots up to generation 5, and no known GPU has one
// before 3.
const char* PcieOf(int generation) {
  if (generation <= 3) return "pcie3";
  return generation == 4 ? "pcie4" : "pcie5";
}

const IntraKind& FindIntra(const std::string& name) {
  for (const IntraKind& kind : kIntraKinds) {
    if (name == kind.name) return kind;
  }
  throw InputError("wiring \"" + name + "\" is not known");
}

// The part of "gpu:kind+gpu:kind" that belongs to `gpu`; the whole text if it has no colon.
std::string PartFor(const std::string& gpu, const std::string& text) {
  if (text.find(':') == std::string::npos) return text;
  for (const std::string_view part : SplitAt(text, '+')) {
    const size_t colon = part.find(':');
    if (colon != std::string_view::npos && part.substr(0, colon) == gpu) {
      return std::string(part.substr(colon + 1));
    }
  }
  return "";
}

// The GPUs of one type in the job.
struct GpuGroup {
  std::string gpu;
  Device device;
  int pcie_generation = 0;
  Bandwidth scale_up;
  const NodeEntry* reference = nullptr;  // the node for which "GPU:NxG" stands; nullptr: none
  int nodes = 1;
  int per_node = 1;
  bool blocks_peer_access = false;
};

// Whether the row ran in virtual machines of a cloud. These do not let GPUs reach each other's
// memory over PCIe, because memory accesses between devices are redirected to the host (NCCL
// documentation, "PCI Access Control Services").
bool IsCloud(const MeasuredRow& row) {
  return row.transport == "tcp" || row.transport == "gvnic" || row.transport == "efa";
}

NetworkKind TransportOf(const MeasuredRow& row) {
  if (row.transport.empty()) return NetworkKind::kUnstated;
  if (const auto kind = FindTransport(row.transport)) return *kind;
  throw InputError("transport \"" + row.transport + "\" is not a known kind of network");
}

// Adds network interfaces to a node: those of the reference node if the row states no bandwidth,
// else as many of at least 100 Gbit/s as make it, at most as many as the node has devices.
void AddNetwork(const GpuGroup& gpus, const MeasuredRow& row, NodeType& type,
                std::vector<std::string>& defaults_used) {
  constexpr double kLeastGbit = 100;
  const std::string gbit_text = PartFor(gpus.gpu, row.inter_gbit_per_node);
  const NetworkKind kind = TransportOf(row);
  if (gbit_text.empty()) {
    if (gpus.nodes == 1) return;
    if (gpus.reference == nullptr) {
      type.nics = 1;
      const NetworkKind sockets = kind == NetworkKind::kUnstated ? NetworkKind::kEthernet : kind;
      type.nic = {LinkKind::kNetwork, UsualLatency(sockets), kUnstatedNetwork, sockets};
      defaults_used.push_back(
          fmt::format("{}{:.0f} Gbit/s", kAssumedNetwork, ToGbit(kUnstatedNetwork)));
      return;
    }
    const NodeType& reference = gpus.reference->type;
    type.nics = reference.nics;
    type.nic = reference.nic;
    defaults_used.push_back(fmt::format("{}{}: {} x {:.0f} Gbit/s", kAssumedNetwork, reference.id,
                                        reference.nics, ToGbit(reference.nic.bandwidth)));
    return;
  }
  double gbit = ParseNumber<double>(gbit_text).value_or(0);
  if (!(gbit > 0)) throw InputError("network \"" + gbit_text + "\" is not a number of Gbit/s");
  const double most = TcpConnections(row) * kConnectionGbit;
  if (row.transport == "tcp" && gbit > most) {
    gbit = most;
    if (gpus.nodes > 1) {
      defaults_used.push_back(fmt::format("TCP connections of {:g} Gbit/s in all", most));
    }
  }
  type.pcie = PcieTree();  // the tree of the reference node has other interfaces
  type.nics = std::clamp(static_cast<int>(gbit / kLeastGbit), 1, type.devices);
  while (type.devices % type.nics != 0) --type.nics;
  type.nic = {LinkKind::kNetwork, UsualLatency(kind), FromGbit(gbit / type.nics), kind};
  if (gpus.nodes > 1 && type.nics > 1) {
    defaults_used.push_back(
        fmt::format("network as {} x {:g} Gbit/s", type.nics, gbit / type.nics));
  }
}

NodeType FromWiring(const GpuGroup& gpus, const MeasuredRow& row,
                    std::vector<std::string>& defaults_used) {
  std::string name = PartFor(gpus.gpu, row.intra_kind);
  const bool is_pcie_alone = gpus.reference == nullptr &&
                             gpus.scale_up.bytes_per_s() <= kWidestOptionalBridge.bytes_per_s();
  if (name == "pcie" || (name.empty() && (gpus.per_node == 1 || is_pcie_alone))) {
    name = PcieOf(gpus.pcie_generation);
    if (gpus.per_node > 1) defaults_used.push_back("wiring " + name);
  }
  if (name.empty()) {
    if (gpus.reference == nullptr) throw InputError("wiring inside the node is not stated");
    defaults_used.push_back("wiring of " + gpus.reference->type.id);
    NodeType type = gpus.reference->type;
    type.device = gpus.device;
    if (!PartFor(gpus.gpu, row.inter_gbit_per_node).empty()) {
      AddNetwork(gpus, row, type, defaults_used);
    }
    return UseDevicesChecked(type, gpus.per_node, "gpus_per_node");
  }
  const IntraKind& kind = FindIntra(name);
  NodeType type;
  type.id = name;
  type.device = gpus.device;
  type.devices = std::max(kind.box, gpus.per_node);
  type.wiring = kind.wiring;
  const bool is_pcie = kind.wiring == Wiring::kPcie;
  type.intra = {is_pcie ? LinkKind::kPcie : LinkKind::kNvlink,
                is_pcie ? kPcieLatency : kNvlinkLatency, kind.intra};
  if (is_pcie && (gpus.blocks_peer_access || IsCloud(row))) type.intra = LinkThroughHost();
  // A cloud's GPUs have as many lanes as in the node for which they stand.
  if (is_pcie && IsCloud(row) && gpus.reference != nullptr &&
      gpus.reference->type.wiring == Wiring::kPcie) {
    type.intra.bandwidth = std::min(type.intra.bandwidth, gpus.reference->type.intra.bandwidth);
  }
  type.fallback = {LinkKind::kPcie, kPcieLatency, kind.pcie};
  type.nvls = kind.nvls;
  type.domain_nodes = kind.domain_nodes;
  AddNetwork(gpus, row, type, defaults_used);
  return UseDevicesChecked(type, gpus.per_node, "gpus_per_node");
}

NodeType RowNode(const GpuGroup& gpus, const MeasuredRow& row,
                 std::vector<std::string>& defaults_used) {
  const NodeEntry* node =
      row.node_id.empty() ? nullptr : NodeCatalogue::Embedded().Find(row.node_id);
  if (node == nullptr) return FromWiring(gpus, row, defaults_used);
  NodeType type = node->type;
  type.device = gpus.device;
  return UseDevicesChecked(type, gpus.per_node, "gpus_per_node");
}

GpuGroup RowGpus(const CountedName& named, int64_t per_node) {
  const DeviceEntry* entry = DeviceCatalogue::Embedded().Find(named.name);
  if (entry == nullptr) throw InputError("GPU \"" + named.name + "\" is not in the catalogue");
  if (named.count < 1 || per_node < 1 || named.count % per_node != 0 ||
      named.count > Cluster::kMaxDevices) {
    throw InputError(
        fmt::format("{} GPUs of {} do not fill nodes of {}", named.count, named.name, per_node));
  }
  GpuGroup gpus;
  gpus.gpu = named.name;
  gpus.device = entry->device;
  gpus.pcie_generation = entry->pcie_generation;
  gpus.scale_up = entry->scale_up;
  gpus.blocks_peer_access = entry->blocks_peer_access;
  gpus.reference = NodeCatalogue::Embedded().Find(entry->reference_node);
  gpus.nodes = static_cast<int>(named.count / per_node);
  gpus.per_node = static_cast<int>(per_node);
  return gpus;
}

}  // namespace

std::vector<CountedName> SplitMixture(const std::string& text, int64_t otherwise) {
  std::vector<CountedName> names;
  for (const std::string_view part : SplitAt(text, '+')) {
    const size_t star = part.find('*');
    const bool is_counted = star != std::string_view::npos;
    const std::optional<int64_t> count =
        is_counted ? ParseNumber<int64_t>(part.substr(star + 1)) : otherwise;
    if (!count) throw InputError("GPU mixture \"" + text + "\" has a count that is not a number");
    names.push_back({std::string(part.substr(0, star)), *count});
  }
  return names;
}

Cluster BuildRowCluster(const MeasuredRow& row, std::vector<std::string>& defaults_used) {
  constexpr int64_t kUsualPerNode = 8;
  if (row.gpu_id.empty()) throw InputError("GPU is not stated");
  const std::vector<CountedName> mixture =
      SplitMixture(row.gpu_id, std::max<int64_t>(row.n_gpus, 1));
  std::vector<GpuGroup> kinds;
  int nodes = 0;
  for (const CountedName& named : mixture) {
    int64_t per_node = row.gpus_per_node;
    if (per_node == 0) {
      per_node = std::min(kUsualPerNode, named.count);
      if (named.count > 1) defaults_used.push_back(fmt::format("{} GPUs per node", per_node));
    }
    // A mixture may have fewer GPUs of a type than fill a node.
    if (mixture.size() > 1) per_node = std::min(per_node, named.count);
    kinds.push_back(RowGpus(named, per_node));
    nodes += kinds.back().nodes;
  }
  std::vector<Cluster::NodeGroup> groups;
  for (GpuGroup& gpus : kinds) {
    const int count = gpus.nodes;
    gpus.nodes = nodes;  // a network is needed if the whole job has several nodes
    groups.push_back({RowNode(gpus, row, defaults_used), count});
  }
  return Cluster(row.gpu_id, std::move(groups));
}

}  // namespace stagecraft
