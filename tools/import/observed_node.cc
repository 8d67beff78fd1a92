#include "tools/import/observed_node.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "costmodel/check.h"
#include "costmodel/hardware_proto.h"
#include "costmodel/usual_links.h"
#include "sim/cluster/cube_mesh.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/cluster/node_type_proto.h"
#include "tools/import/imported_gpu.h"

namespace stagecraft {
namespace {

bool MatchesCubeMesh(const ObservedNode& node, CubeMesh mesh) {
  if (node.gpus > kCubeMeshSize) return false;
  for (int a = 0; a < node.gpus; ++a) {
    for (int b = 0; b < node.gpus; ++b) {
      if (a != b && node.nvlinks[a][b] != CubeMeshLinks(mesh, a, b)) return false;
    }
  }
  return true;
}

// Whether each two GPUs have exactly `links` links between them if joins(a, b), else none.
template <typename Joins>
bool IsUniform(const ObservedNode& node, int links, Joins joins) {
  for (int a = 0; a < node.gpus; ++a) {
    for (int b = 0; b < node.gpus; ++b) {
      if (a != b && node.nvlinks[a][b] != (joins(a, b) ? links : 0)) return false;
    }
  }
  return links > 0;
}

struct WiringFound {
  Wiring wiring = Wiring::kPcie;
  int links = 0;  // of a GPU
};

WiringFound FindWiring(const ObservedNode& node, const std::string& place) {
  const auto& to_switch = node.switch_links;
  const int switched = *std::min_element(to_switch.begin(), to_switch.end());
  if (switched != *std::max_element(to_switch.begin(), to_switch.end())) {
    throw InputError(
        place +
        ": got GPUs with unequal numbers of NVLinks to switches, want the same number for all");
  }
  if (switched > 0) return {Wiring::kSwitched, switched};
  int direct = 0;
  for (const auto& row : node.nvlinks) direct += std::accumulate(row.begin(), row.end(), 0);
  if (direct == 0) return {};
  const int first = node.nvlinks[0][node.gpus > 1 ? 1 : 0];
  if (IsUniform(node, first, [](int, int) { return true; })) {
    return {Wiring::kAllPairs, first * (node.gpus - 1)};
  }
  if (IsUniform(node, first, [](int a, int b) { return a / 2 == b / 2; })) {
    return {Wiring::kPairs, first};
  }
  for (const CubeMesh mesh : {CubeMesh::kV100, CubeMesh::kP100}) {
    if (MatchesCubeMesh(node, mesh)) {
      return {mesh == CubeMesh::kV100 ? Wiring::kCubeMesh : Wiring::kSingleCubeMesh,
              CubeMeshLinksPerDevice(mesh)};
    }
  }
  throw InputError(
      place +
      ": got NVLinks that are neither all-to-all, pairs nor the cube mesh of a DGX-1, want "
      "one of these or a cluster file with links");
}

// The bandwidth of one network interface: from the flag, else from the source, else from the
// catalogue.
Bandwidth NicBandwidth(const ObservedNode& node, const ImportOptions& options,
                       const std::string& place, std::vector<std::string>* notes) {
  if (options.nic_gbit > 0) return FromGbit(options.nic_gbit);
  if (node.nic.bytes_per_s() > 0) return node.nic;
  const NodeEntry* reference = NodeCatalogue::Embedded().Find(node.gpu->reference_node);
  if (reference == nullptr || reference->type.nics == 0) {
    throw InputError(place + ": got " + std::to_string(node.nics) +
                     " network interfaces of no stated speed, want --nic-gbit");
  }
  const Bandwidth bandwidth = reference->type.nic.bandwidth;
  notes->push_back(fmt::format("network interfaces are assumed to have {:g} Gbit/s, as those of {}",
                               ToGbit(bandwidth), reference->type.id));
  return bandwidth;
}

NetworkKind NetworkOf(const ObservedNode& node, const ImportOptions& options,
                      std::vector<std::string>* notes) {
  const NetworkKind kind =
      options.network.empty() ? node.network : *FindNetworkKind(options.network);
  if (kind == NetworkKind::kUnstated) {
    notes->push_back(
        "what kind of network the interfaces speak is not stated: InfiniBand is assumed, with "
        "intervals of a factor of 1.5 each way; --network-kind states it");
  }
  return kind;
}

}  // namespace

Link RootLink(int pcie_generation) {
  // NCCL's figures for Broadwell, Skylake, AMD, Sapphire Rapids and Emerald Rapids
  // (src/graph/topo.h), by their generation of PCIe.
  constexpr double kByGeneration[] = {6e9, 6e9, 10e9, 16e9, 22e9, 40e9};
  const int index = std::clamp(pcie_generation, 1, 6) - 1;
  return {LinkKind::kHost, Duration(), Bandwidth(kByGeneration[index])};
}

NodeTypeProto ToNodeType(const ObservedNode& node, const std::string& id,
                         const ImportOptions& options, const std::string& place,
                         std::vector<std::string>* notes) {
  CHECK(node.gpu != nullptr && node.gpus >= 1);
  const WiringFound found = FindWiring(node, place);
  NodeType type;
  type.id = id;
  type.device = node.gpu->device;
  type.devices = node.gpus;
  type.wiring = found.wiring;
  type.fallback = node.port;
  if (found.wiring == Wiring::kPcie) {
    type.intra = node.port;
  } else {
    const Bandwidth nvlink = NvlinkBandwidth(*node.gpu);
    if (!(nvlink.bytes_per_s() > 0)) {
      throw InputError(place + ": got NVLinks on " + node.gpu->device.id +
                       ", which has none in the catalogue, want another --gpu");
    }
    type.intra = {LinkKind::kNvlink, kNvlinkLatency, static_cast<double>(found.links) * nvlink};
  }
  const Generation generation = node.gpu->device.generation;
  type.nvls = found.wiring == Wiring::kSwitched &&
              (generation == Generation::kHopper || generation == Generation::kBlackwell);
  type.nics = node.nics;
  if (node.nics == 0 && options.nic_gbit > 0) {
    notes->push_back("--nic-gbit changes nothing: there are no network interfaces");
  }
  if (node.nics > 0) {
    const NetworkKind network = NetworkOf(node, options, notes);
    type.nic = {LinkKind::kNetwork, UsualLatency(network),
                NicBandwidth(node, options, place, notes), network};
  }
  type.pcie = node.tree;
  const std::vector<std::string> errors = FindErrors(type);
  if (!errors.empty()) throw InputError(place + ": " + errors[0]);
  return ToProto(type);
}

}  // namespace stagecraft
