#include "tools/validation/row_cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/usual_links.h"
#include "sim/cluster/cluster.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

TEST(RowClusterTest, MixturesAreGroupsInRankOrder) {
  MeasuredRow row = Gpt();
  row.gpu_id = "v100-sxm2-32gb*8+a100-sxm4-80gb*16";
  row.intra_kind = "v100-sxm2-32gb:nvlink2-cube-mesh+a100-sxm4-80gb:nvlink3-nvswitch";
  row.inter_gbit_per_node = "v100-sxm2-32gb:100+a100-sxm4-80gb:1600";
  row.n_gpus = 24;
  std::vector<std::string> defaults;
  const Cluster cluster = BuildRowCluster(row, defaults);
  ASSERT_EQ(cluster.groups().size(), 2u);
  EXPECT_EQ(cluster.groups()[0].type.wiring, Wiring::kCubeMesh);
  EXPECT_EQ(cluster.groups()[1].count, 2);
  EXPECT_EQ(cluster.groups()[1].type.nics, 8);
  EXPECT_EQ(cluster.device(8).id, "a100-sxm4-80gb");
}

TEST(RowClusterTest, TheGpuOfTheRowTakesPrecedenceOverTheNodesOwn) {
  MeasuredRow row = Gpt();
  row.node_id = "dgx-a100";
  row.gpu_id = "a100-sxm4-40gb";
  std::vector<std::string> defaults;
  EXPECT_EQ(BuildRowCluster(row, defaults).device(0).id, "a100-sxm4-40gb");
  EXPECT_TRUE(defaults.empty());
}

// The 18 nodes of 4 GPUs share their NVSwitches.
TEST(RowClusterTest, NodesOfAnNvl72AreOneDomain) {
  MeasuredRow row = Gpt();
  row.gpu_id = "gb200-186gb";
  row.intra_kind = "nvlink5-nvl72";
  row.gpus_per_node = 4;
  row.n_nodes = 4;
  std::vector<std::string> defaults;
  const Cluster cluster = BuildRowCluster(row, defaults);
  EXPECT_EQ(cluster.domain(0), cluster.domain(3));
}

TEST(RowClusterTest, AnUnstatedNetworkIsThatOfTheReferenceNode) {
  MeasuredRow row = Gpt();
  row.inter_gbit_per_node = "";
  std::vector<std::string> defaults;
  BuildRowCluster(row, defaults);
  EXPECT_EQ(defaults, (std::vector<std::string>{"network of dgx-a100: 8 x 200 Gbit/s"}));
}

// Nobody sells these GPUs in nodes.
TEST(RowClusterTest, AnUnstatedNetworkOfDesktopComputersHasTenGigabit) {
  MeasuredRow row = Gpt();
  row.gpu_id = "rtx2080ti-11gb";
  row.intra_kind = "pcie3";
  row.inter_gbit_per_node = "";
  std::vector<std::string> defaults;
  const NodeType node = BuildRowCluster(row, defaults).node(0);
  EXPECT_EQ(node.nics, 1);
  EXPECT_EQ(node.nic.bandwidth, FromGbit(10));
  EXPECT_EQ(node.nic.network, NetworkKind::kEthernet);
  EXPECT_EQ(defaults, (std::vector<std::string>{"network of 10 Gbit/s"}));
}

TEST(RowClusterTest, ATcpConnectionCarriesAtMostFiveGigabit) {
  MeasuredRow row = Gpt();
  row.transport = "tcp";
  row.inter_gbit_per_node = "100";
  std::vector<std::string> defaults;
  EXPECT_EQ(BuildRowCluster(row, defaults).node(0).nic.bandwidth, FromGbit(5));
  EXPECT_EQ(defaults, (std::vector<std::string>{"TCP connections of 5 Gbit/s in all"}));
  row.software_date = "2020-12";
  EXPECT_EQ(BuildRowCluster(row, defaults).node(0).nic.bandwidth, FromGbit(5));
  row.inter_gbit_per_node = "1";
  defaults.clear();
  EXPECT_EQ(BuildRowCluster(row, defaults).node(0).nic.bandwidth, FromGbit(1));
  EXPECT_TRUE(defaults.empty());
}

TEST(RowClusterTest, SoftwareOfTwentyTwentyOneOpensSixteenTcpConnections) {
  MeasuredRow row = Gpt();
  row.transport = "tcp";
  row.software_date = "2021-01";
  row.inter_gbit_per_node = "50";
  std::vector<std::string> defaults;
  EXPECT_EQ(BuildRowCluster(row, defaults).node(0).nic.bandwidth, FromGbit(50));
  EXPECT_TRUE(defaults.empty());
  row.inter_gbit_per_node = "100";
  EXPECT_EQ(BuildRowCluster(row, defaults).node(0).nic.bandwidth, FromGbit(80));
  EXPECT_EQ(defaults, (std::vector<std::string>{"TCP connections of 80 Gbit/s in all"}));
}

TEST(RowClusterTest, GpusWithoutPeerAccessExchangeThroughHostMemory) {
  const auto intra = [](const std::string& gpu, const std::string& transport) {
    MeasuredRow row = Gpt();
    row.gpu_id = gpu;
    row.intra_kind = "pcie3";
    row.transport = transport;
    std::vector<std::string> defaults;
    return BuildRowCluster(row, defaults).node(0).intra;
  };
  EXPECT_EQ(intra("rtx2080ti-11gb", ""), LinkThroughHost());  // its driver
  EXPECT_EQ(intra("a10g-24gb", "tcp"), LinkThroughHost());    // a cloud's virtual machine
  // AWS connects its T4s by half of the lanes.
  Link half = LinkThroughHost();
  half.bandwidth = 0.5 * half.bandwidth;
  EXPECT_EQ(intra("t4-16gb", "tcp"), half);
  EXPECT_EQ(intra("t4-16gb", "").bandwidth, LinkThroughHost().bandwidth);
  EXPECT_EQ(intra("t4-16gb", "").kind, LinkKind::kPcie);
  EXPECT_EQ(intra("t4-16gb", "ib").kind, LinkKind::kPcie);
}

TEST(RowClusterTest, TheTransportIsTheKindOfNetwork) {
  const auto nic = [](const std::string& transport) {
    MeasuredRow row = Gpt();
    row.transport = transport;
    std::vector<std::string> defaults;
    return BuildRowCluster(row, defaults).node(0).nic;
  };
  EXPECT_EQ(nic("").network, NetworkKind::kUnstated);
  EXPECT_EQ(nic("ib").network, NetworkKind::kInfiniband);
  EXPECT_EQ(nic("slingshot").network, NetworkKind::kSlingshot);
  EXPECT_EQ(nic("tcp").network, NetworkKind::kEthernet);
  EXPECT_EQ(nic("tcp").latency, UsualLatency(NetworkKind::kEthernet));
  EXPECT_EQ(ErrorOf([&] { nic("token ring"); }),
            "transport \"token ring\" is not a known kind of network");
}

}  // namespace
}  // namespace stagecraft
