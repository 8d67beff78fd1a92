#include "costmodel/network/measured_fabric.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/network/fabric_words.h"
#include "costmodel/usual_links.h"

namespace stagecraft {
namespace {

constexpr double kGiga = 1e9;
// One NVLink 2, all NVLinks 3 and all NVLinks 4 of a GPU, and the bridges of a pair.
constexpr Bandwidth kOneNvlink2 = Bandwidth(25 * kGiga);
constexpr Bandwidth kNvlink3 = Bandwidth(300 * kGiga);
constexpr Bandwidth kNvlink4 = Bandwidth(450 * kGiga);
constexpr Bandwidth kRtx3090Bridge = Bandwidth(56.25 * kGiga);
constexpr int kGh200Peers = 3;  // four GPUs, a third of the links to each of the others

Link Nvlink(Bandwidth bandwidth) { return {LinkKind::kNvlink, kNvlinkLatency, bandwidth}; }
Link Pcie(int generation) { return {LinkKind::kPcie, kPcieLatency, PcieBandwidth(generation)}; }

// Returns how many NVLinks join a pair of V100 SXM. Each of their nodes is a hybrid cube mesh,
// whose best pair has two links: this is assumed if nothing else is known about the pair.
int LinksOfPair(const MeasuredPlace& place) {
  constexpr int kOfBestPair = 2;
  const int known = MeasuredNetworks::Embedded().LinksOfPair(place);
  return known > 0 ? known : kOfBestPair;
}

// Returns the links of the rings over the first n of eight V100, or over every other one: the
// number of rings is the number of links that leave each rank. Five have no ring: a chain of single
// links moves an all-reduce in bytes / link, which is 2 (n-1)/n of a link as a ring counts it.
Link CubeMesh(const MeasuredGroup& group) {
  constexpr double kRings[] = {1, 1, 1, 2, 4, 1.6, 2, 4, 6};
  constexpr double kRingsOfEveryOther = 2;
  const int ranks = std::min(group.ranks_per_node, 8);
  double rings = kRings[ranks];
  if (ranks == 2) rings = LinksOfPair(group.place);
  if (ranks == 4 && group.stride > 1) rings = kRingsOfEveryOther;
  return Nvlink(rings * kOneNvlink2);
}

std::optional<Link> Intra(const MeasuredGroup& group) {
  const std::string& gpu = group.gpu;
  const int ranks = group.ranks_per_node;
  const bool is_pair = ranks <= 2;
  if (gpu.starts_with("v100-sxm")) return CubeMesh(group);
  if (gpu.starts_with("v100-pcie")) return Pcie(3);
  if (gpu.starts_with("a100-sxm")) return Nvlink(kNvlink3);
  if (gpu.starts_with("h100-sxm")) return Nvlink(kNvlink4);
  if (gpu.starts_with("gh200")) {
    return Nvlink(static_cast<double>(std::max(1, ranks - 1)) / kGh200Peers * kNvlink4);
  }
  if (gpu.starts_with("a100-pcie")) return is_pair ? Nvlink(kNvlink3) : Pcie(4);
  if (gpu.starts_with("h100-nvl")) return is_pair ? Nvlink(kNvlink3) : Pcie(5);
  if (gpu.starts_with("rtx3090")) return is_pair ? Nvlink(kRtx3090Bridge) : LinkThroughHost();
  // The table says "its path is not NVLink", at 4 GB/s.
  if (gpu.starts_with("a40") || gpu.starts_with("rtx2080") || gpu.starts_with("titanrtx")) {
    return LinkThroughHost();
  }
  return std::nullopt;
}

MeasuredFabric Stated(const MeasuredGroup& group, const std::string& row) {
  MeasuredFabric measured;
  Fabric& fabric = measured.fabric;
  fabric = ParseFabricWords(group.place.fabric, row);
  fabric.nodes = group.nodes;
  fabric.ranks_per_node = group.ranks_per_node;
  fabric.ranks = group.nodes * group.ranks_per_node;
  if (fabric.nodes == 1 || fabric.inter.bandwidth.bytes_per_s() > 0) return measured;
  throw InputError(fmt::format("{}: fabric: got \"{}\", want a second link, between the {} nodes",
                               row, group.place.fabric, group.nodes));
}

}  // namespace

std::optional<MeasuredFabric> DescribeMeasured(const MeasuredGroup& group, const std::string& row) {
  if (IsFabricWords(group.place.fabric)) return Stated(group, row);
  MeasuredFabric measured;
  Fabric& fabric = measured.fabric;
  fabric.nodes = group.nodes;
  fabric.ranks_per_node = group.ranks_per_node;
  fabric.ranks = group.nodes * group.ranks_per_node;
  const std::optional<Link> intra = Intra(group);
  if (!intra) return std::nullopt;
  fabric.intra = *intra;
  fabric.nvls = group.gpu.starts_with("h100-sxm") && group.ranks_per_node == 8 && group.nodes == 1;
  if (group.nodes == 1) return measured;
  const MeasuredNetworks& networks = MeasuredNetworks::Embedded();
  const MeasuredNetworks::Interfaces between = networks.Between(group.place, row);
  fabric.inter = between.link;
  measured.is_network_stated = between.is_stated;
  measured.sharing = std::max(1, networks.SharingDevices(group.place) / group.ranks_per_node);
  fabric.inter.bandwidth = (1.0 / measured.sharing) * fabric.inter.bandwidth;
  return measured;
}

}  // namespace stagecraft
