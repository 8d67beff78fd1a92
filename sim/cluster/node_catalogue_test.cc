#include "sim/cluster/node_catalogue.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/link.h"
#include "costmodel/shared_csv.h"
#include "costmodel/usual_links.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {
namespace {

TEST(NodeCatalogueTest, EveryReferenceNodeExists) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    if (entry.reference_node.empty()) continue;
    const NodeEntry* node = NodeCatalogue::Embedded().Find(entry.reference_node);
    ASSERT_NE(node, nullptr) << entry.reference_node;
    EXPECT_EQ(node->type.device, entry.device) << entry.reference_node;
  }
}

// Returns whether all pairs see the same fabric, and so do all groups of each size from two to
// four.
bool DescribesAlike(const Cluster& node) {
  std::map<int, Fabric> by_size;
  for (unsigned members = 1; members < 1u << node.device_count(); ++members) {
    const int size = std::popcount(members);
    if (size < 2 || size > 4) continue;
    std::vector<int> devices;
    for (int device = 0; device < node.device_count(); ++device) {
      if ((members >> device & 1) != 0) devices.push_back(device);
    }
    const Fabric group = node.DescribeGroup(devices);
    if (by_size.try_emplace(size, group).first->second != group) return false;
    const Fabric pair = node.DescribePair(devices[0], devices[1], 1);
    if (by_size.try_emplace(0, pair).first->second != pair) return false;
    if (node.DescribePair(devices[1], devices[0], 1) != pair) return false;
  }
  return true;
}

TEST(NodeCatalogueTest, NodesJoinAlikeWhereAnyDevicesSeeTheSame) {
  int alike = 0, uneven = 0;
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const bool is_alike = DescribesAlike(Cluster("one", {{entry.type, 1}}));
    EXPECT_EQ(JoinsAlike(entry.type), is_alike) << entry.type.id;
    ++(is_alike ? alike : uneven);
  }
  EXPECT_GT(alike, 10);
  EXPECT_GT(uneven, 4);
}

// The share of 16 lanes by which the GPUs of a node are connected.
double LanesOf(const NodeType& type) { return type.id == "aws-g4dn.metal" ? 0.5 : 1; }

TEST(NodeCatalogueTest, LinksAreThoseOfTheGpus) {
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const NodeType& type = entry.type;
    const DeviceEntry& gpu = DeviceCatalogue::Embedded().Get(type.device.id, "test");
    if (type.intra.kind == LinkKind::kPcie) {
      EXPECT_EQ(type.intra.bandwidth, LanesOf(type) * PcieBandwidth(gpu.pcie_generation));
      EXPECT_EQ(type.intra.latency, kPcieLatency);
      EXPECT_FALSE(gpu.blocks_peer_access) << type.id;
    } else if (type.intra.kind == LinkKind::kHost) {
      EXPECT_TRUE(gpu.blocks_peer_access) << type.id;
      EXPECT_EQ(type.intra, LinkThroughHost()) << type.id;
    } else if (gpu.scale_up.bytes_per_s() > 0) {
      EXPECT_EQ(type.intra.bandwidth, gpu.scale_up) << type.id;
      EXPECT_EQ(type.intra.latency, kNvlinkLatency) << type.id;
    } else {
      EXPECT_EQ(type.id, "frontier-node");  // links of three widths
    }
  }
}

TEST(NodeCatalogueTest, SwitchesReduceFromTheFourthNvlinkOn) {
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const Generation generation = entry.type.device.generation;
    const bool is_new = generation == Generation::kHopper || generation == Generation::kBlackwell;
    EXPECT_EQ(entry.type.nvls, is_new && entry.type.wiring == Wiring::kSwitched) << entry.type.id;
    EXPECT_FALSE(entry.sources.empty()) << entry.type.id;
  }
}

TEST(NodeCatalogueTest, HasEveryNodeOfTheSharedCatalogue) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::vector<CsvRow> rows = ReadSharedCatalogue("cluster_catalogue.csv");
  EXPECT_EQ(rows.size(), 48u);
  for (const CsvRow& row : rows) {
    const NodeType& type = NodeCatalogue::Embedded().Get(row.at("cluster_id"), "test").type;
    EXPECT_EQ(type.device.id, row.at("gpu_id")) << type.id;
    EXPECT_EQ(type.devices, Number(row, "gpus_per_node")) << type.id;
    EXPECT_EQ(type.nics, Number(row, "nic_count")) << type.id;
    EXPECT_DOUBLE_EQ(ToGbit(type.nic.bandwidth), Number(row, "nic_gbit_each")) << type.id;
    if (type.id == "frontier-node") continue;  // no one number says how it is wired
    const Bandwidth pcie = PcieBandwidth(static_cast<int>(Number(row, "host_pcie_gen")));
    if (type.wiring == Wiring::kPcie) {
      const bool is_through_host = type.intra.kind == LinkKind::kHost;
      EXPECT_EQ(type.intra.bandwidth,
                is_through_host ? LinkThroughHost().bandwidth : LanesOf(type) * pcie)
          << type.id;
      continue;
    }
    EXPECT_EQ(type.fallback.bandwidth, pcie) << type.id;
    EXPECT_EQ(type.intra.bandwidth.bytes_per_s(),
              Number(row, "intra_gbytes_per_s_per_dir_per_gpu") * 1e9)
        << type.id;
    EXPECT_EQ(DomainSize(type) * type.domain_nodes, Number(row, "scaleup_domain_gpus")) << type.id;
  }
}

struct SoldNode {
  const char* gpu;
  const char* id;
  int devices;
  Wiring wiring;
  double intra;    // bytes per second of a GPU, one direction
  double network;  // of the node
};

// H800 and A800 have 400 GB/s of NVLink in both directions together, H20 and GH200 900 GB/s.
TEST(NodeCatalogueTest, BoardsOfOtherMarketsHaveTheirOwnNodes) {
  for (const SoldNode& want : std::vector<SoldNode>{
           {"h800", "hgx-h800", 8, Wiring::kSwitched, 200e9, 400e9},
           {"a800", "hgx-a800", 8, Wiring::kSwitched, 200e9, 200e9},
           {"h20", "hgx-h20", 8, Wiring::kSwitched, 450e9, 400e9},
           {"gh200", "gh200-1", 1, Wiring::kPcie, 63e9, 50e9},
           {"gh200-144gb", "gh200-144gb-1", 1, Wiring::kPcie, 63e9, 50e9},
           {"mi325x", "mi325x-8", 8, Wiring::kAllPairs, 448e9, 400e9},
           {"gaudi2-96gb", "hls-gaudi2", 8, Wiring::kAllPairs, 262.5e9, 300e9},
           // A card for a slot, whose bridges are not assumed.
           {"h100-pcie", "node of h100-pcie-80gb", 8, Wiring::kPcie, 63e9, 12.5e9}}) {
    const NodeType type = ReferenceNode(want.gpu, 0, "test");
    EXPECT_EQ(type.id, want.id);
    EXPECT_EQ(type.devices, want.devices) << want.id;
    EXPECT_EQ(type.wiring, want.wiring) << want.id;
    EXPECT_EQ(type.intra.bandwidth.bytes_per_s(), want.intra) << want.id;
    EXPECT_EQ(type.nics * type.nic.bandwidth.bytes_per_s(), want.network) << want.id;
  }
}

TEST(NodeCatalogueTest, EveryGpuOfTheCatalogueHasANodeOrIsAssumedToHaveOne) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    const NodeType type = ReferenceNode(entry.device.id, 1, "x");
    EXPECT_EQ(type.device, entry.device);
    EXPECT_TRUE(FindErrors(type).empty()) << FindErrors(type)[0];
    EXPECT_EQ(NoteOnReferenceNode(entry.device.id).empty(), !entry.reference_node.empty());
  }
  EXPECT_EQ(NoteOnReferenceNode("h20-96gb"), "");
  EXPECT_EQ(
      NoteOnReferenceNode("rtx2080ti"),
      "the catalogue has no node type with rtx2080ti-11gb: assumed is a node of 8 on PCIe of "
      "15.75 GB/s per GPU, with 1 network interface of 100 Gbit/s; a cluster file can say how "
      "it is wired");
}

}  // namespace
}  // namespace stagecraft
