// Tests of the importers of NCCL's and nvidia-smi's topologies.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/import/import_testing.h"

namespace stagecraft {
namespace {

std::string Xml(const std::string& nvlinks) {
  std::string gpus;
  for (int g = 0; g < 2; ++g) {
    const std::string n = std::to_string(g);
    gpus += "<cpu numaid=\"" + n + "\"><pci busid=\"s" + n +
            "\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
            "<pci busid=\"g" +
            n +
            "\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
            "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"" +
            n + "\" sm=\"90\">" + nvlinks +
            "</gpu></pci>"
            "<pci busid=\"n" +
            n + "\" class=\"0x020700\"><nic><net name=\"mlx5\" dev=\"" + n +
            "\" speed=\"400000\"/></nic></pci></pci></cpu>";
  }
  return "<system version=\"1\">" + gpus + "</system>";
}

TEST_F(ImportTest, NcclTreesKeepAffinityAndSwitches) {
  const std::string path =
      Write("topo.xml", Xml("<nvlink target=\"ffffffff\" count=\"18\" tclass=\"0x068000\"/>"));
  const Cluster cluster = Import({"nccl-topo", path});
  const NodeType& type = cluster.node(0);
  EXPECT_EQ(type.device.id, "h100-sxm5-80gb");
  EXPECT_EQ(type.wiring, Wiring::kSwitched);
  EXPECT_TRUE(type.nvls);
  EXPECT_EQ(type.intra.bandwidth, Bandwidth(450e9));
  EXPECT_EQ(type.nic.bandwidth, Bandwidth(50e9));
  EXPECT_EQ(type.fallback.bandwidth, Bandwidth(63e9));
  EXPECT_EQ(type.pcie.roots, 2);
  EXPECT_EQ(type.pcie.device_switch, type.pcie.nic_switch);
}

// The names of NVIDIA's interfaces do not tell InfiniBand from RoCE; a flag does.
TEST_F(ImportTest, InterfacesSpeakWhatTheirNameOrTheFlagSays) {
  const auto network = [&](const std::string& name, const Args& more) {
    std::string xml = Xml("");
    for (size_t at; (at = xml.find("mlx5")) != xml.npos;) xml.replace(at, 4, name);
    Args args = {"nccl-topo", Write("topo.xml", xml)};
    args.insert(args.end(), more.begin(), more.end());
    return Import(args).node(0).nic;
  };
  EXPECT_EQ(network("rdmap16s27", {}).network, NetworkKind::kEfa);
  EXPECT_EQ(network("rdmap16s27", {}).latency, UsualLatency(NetworkKind::kEfa));
  EXPECT_EQ(network("eth0", {}).network, NetworkKind::kEthernet);
  EXPECT_EQ(network("ib0", {}).network, NetworkKind::kInfiniband);
  EXPECT_EQ(printed_.find("is not stated"), std::string::npos) << printed_;
  EXPECT_EQ(network("nic", {}).network, NetworkKind::kUnstated);
  EXPECT_NE(printed_.find("what kind of network the interfaces speak is not stated"),
            std::string::npos)
      << printed_;
  EXPECT_EQ(network("nic", {"--network-kind", "roce"}).network, NetworkKind::kRoce);
  EXPECT_EQ(network("eth0", {"--network-kind", "cloud-tcp"}).network, NetworkKind::kCloudTcp);
}

TEST_F(ImportTest, NcclTreesWithoutNvlinkArePcie) {
  const Cluster cluster = Import({"nccl-topo", Write("topo.xml", Xml(""))});
  EXPECT_EQ(cluster.node(0).wiring, Wiring::kPcie);
  const Route route = cluster.FindRoute(0, 1);  // over a switch, two root complexes and a switch
  EXPECT_EQ(route.links.size(), 5u);
  EXPECT_EQ(route.narrowest.bandwidth, Bandwidth(22e9));
}

// Two switches, of 16 and of 8 lanes, each with a GPU and an interface below it. A slow interface
// on four lanes of an old generation is left out with its switch.
TEST_F(ImportTest, NcclSwitchesKeepUplinksOfTheirOwn) {
  const std::string slow =
      "<pci busid=\"s9\" class=\"0x060400\" link_speed=\"5.0 GT/s PCIe\" link_width=\"4\">"
      "<pci busid=\"n9\" class=\"0x020000\"><nic><net name=\"eth0\" dev=\"9\" speed=\"25000\"/>"
      "</nic></pci></pci>";
  std::string xml = Xml("");
  const Cluster alike = Import({"nccl-topo", Write("topo.xml", xml)});
  xml.insert(xml.find("<pci "), slow);
  const Cluster cluster = Import({"nccl-topo", Write("topo.xml", xml)});
  EXPECT_EQ(cluster.node(0).pcie, alike.node(0).pcie);
  EXPECT_EQ(printed_.find("uplinks"), std::string::npos) << printed_;
  const std::string width = "link_width=\"16\"";
  xml.replace(xml.find(width, xml.find("\"s1\"")), width.size(), "link_width=\"8\"");
  const Cluster unlike = Import({"nccl-topo", Write("topo.xml", xml)});
  ASSERT_EQ(unlike.node(0).pcie.uplinks.size(), 2u);
  EXPECT_EQ(unlike.node(0).pcie.uplinks[0].bandwidth, Bandwidth(63e9));
  EXPECT_EQ(unlike.node(0).pcie.uplinks[1].bandwidth, Bandwidth(31.5e9));
  EXPECT_NE(printed_.find("uplinks of PCIe switches differ: 31.5 to 63 GB/s"), std::string::npos)
      << printed_;
}

TEST_F(ImportTest, SmiMatricesShowPairsAndSwitches) {
  const std::string pairs = Write("pairs.txt",
                                  "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA "
                                  "Affinity\x1b[0m\n"
                                  "GPU0\t X \tNV12\tNODE\tSYS\tPIX\t0-47\t0\n"
                                  "GPU1\tNV12\t X \tNODE\tSYS\tNODE\t0-47\t0\n"
                                  "GPU2\tNODE\tNODE\t X \tNV12\tNODE\t0-47\t0\n"
                                  "GPU3\tSYS\tSYS\tNV12\t X \tSYS\t48-95\t1\n"
                                  "NIC0\tPIX\tNODE\tNODE\tSYS\t X \t\t\n");
  const Cluster cluster =
      Import({"smi-topo", pairs, "--gpu", "a100-pcie-80gb", "--nic-gbit", "200"});
  const NodeType& type = cluster.node(0);
  EXPECT_EQ(type.wiring, Wiring::kPairs);
  EXPECT_EQ(type.intra.bandwidth, Bandwidth(300e9));
  EXPECT_EQ(type.nic.bandwidth, Bandwidth(25e9));
  EXPECT_EQ(type.pcie.device_switch, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(type.pcie.nic_switch, (std::vector<int>{0}));
  EXPECT_EQ(type.pcie.switch_root, (std::vector<int>{0, 0, 0, 1}));
}

}  // namespace
}  // namespace stagecraft
