#include "sim/cluster/cluster_spec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/link_graph.h"
#include "sim/cluster/node_catalogue.h"

namespace stagecraft {
namespace {

std::string ErrorOf(const std::string& spec) {
  try {
    ParseCluster(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  WriteFileAtomically(path, text);
  return path;
}

TEST(ClusterSpecTest, GpuTakesItsReferenceNode) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  EXPECT_EQ(cluster.device_count(), 16);
  EXPECT_EQ(cluster.node_count(), 2);
  EXPECT_EQ(cluster.node(0).id, "dgx-h100");
  EXPECT_EQ(cluster.device(15).id, "h100-sxm5-80gb");
  EXPECT_EQ(
      DescribeCluster(cluster),
      "16 GPUs: 2 x dgx-h100 with 8 H100 SXM5 80GB (switched NVLink 450 GB/s per GPU, InfiniBand "
      "8 x 50 GB/s per node)");
}

TEST(ClusterSpecTest, FewerGpusOfANodeLeaveTheRestIdle) {
  const Cluster cluster = ParseCluster("a100-sxm4-80gb:4x2");
  EXPECT_EQ(cluster.device_count(), 8);
  EXPECT_EQ(cluster.node(0).nics, 2);
  EXPECT_EQ(DescribeCluster(cluster),
            "8 GPUs: 4 x dgx-a100 with 2 of 8 A100 SXM4 80GB (switched NVLink 300 GB/s per GPU, "
            "InfiniBand 2 x 25 GB/s per node)");
}

// 200 Gbit/s are 25 GB/s.
TEST(ClusterSpecTest, InterfacesMayHaveAnotherRate) {
  EXPECT_EQ(
      DescribeCluster(ParseCluster("h100-sxm:2x8@nic=200+dgx-h100:1")),
      "24 GPUs: 2 x dgx-h100 with 8 H100 SXM5 80GB (switched NVLink 450 GB/s per GPU, InfiniBand "
      "8 x 25 GB/s per node) + 1 x dgx-h100 with 8 H100 SXM5 80GB (switched NVLink 450 GB/s per "
      "GPU, InfiniBand 8 x 50 GB/s per node)");
  EXPECT_EQ(ParseCluster("dgx-h100:2@nic=100").node(1).nic.bandwidth.bytes_per_s(), 12.5e9);
  const std::string want =
      ", want @nic=GBIT, the Gbit/s of every network interface, from 1 to 10000";
  for (const std::string option : {"@", "@200", "@nic=", "@nic=0", "@nic=-1", "@nic=nan",
                                   "@nic=20000", "@nic=200G", "@nik=200", "@nic=200@nic=100"}) {
    EXPECT_EQ(ErrorOf("h100-sxm:2x8" + option), "--cluster: got \"" + option + "\"" + want);
  }
}

TEST(ClusterSpecTest, PcieIsNamedOnce) {
  EXPECT_EQ(DescribeCluster(ParseCluster("t4:1x4")),
            "4 GPUs: 1 x aws-g4dn.metal with 4 of 8 Tesla T4 (PCIe 7.875 GB/s per GPU, EFA 1 x "
            "12.5 GB/s per node)");
}

TEST(ClusterSpecTest, DirectLinksHaveTheNameOfTheirVendor) {
  const std::string text = DescribeCluster(ParseCluster("mi300x:1x8"));
  EXPECT_NE(text.find("(all-pairs Infinity Fabric "), std::string::npos) << text;
  const Device amd = ParseCluster("mi300x:1x8").device(0);
  EXPECT_STREQ(LinkName(LinkKind::kPcie, amd), "PCIe");
}

TEST(ClusterSpecTest, NodeIdsAndMixturesInRankOrder) {
  EXPECT_EQ(ParseCluster("dgx-2:3").device_count(), 48);
  EXPECT_EQ(ParseCluster("dgx-2:3x4").device_count(), 12);
  const Cluster mixed = ParseCluster("a100-sxm4-80gb:4x8+v100-sxm2-32gb:4x8");
  EXPECT_EQ(mixed.device_count(), 64);
  EXPECT_EQ(mixed.device(31).id, "a100-sxm4-80gb");
  EXPECT_EQ(mixed.device(32).id, "v100-sxm2-32gb");
  EXPECT_FALSE(mixed.homogeneous());
}

TEST(ClusterSpecTest, ADomainOfSeveralNodesIsNamed) {
  EXPECT_EQ(DescribeCluster(ParseCluster("gb200:18x4")),
            "72 GPUs: 18 x gb200-nvl72 with 4 GB200 (per GPU, NVL72) (switched NVLink 900 GB/s per "
            "GPU across 18 nodes, InfiniBand 4 x 50 GB/s per node)");
  const ClusterProto proto = ToProto(ParseCluster("gb200:2x4"));
  EXPECT_EQ(ClusterFromProto(proto, "x").node(0).domain_nodes, 18);
}

TEST(ClusterSpecTest, EveryNodeOfTheCatalogueMakesACluster) {
  for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
    const Cluster cluster = ParseCluster(entry.type.id + ":2");
    EXPECT_EQ(cluster.device_count(), 2 * entry.type.devices);
    EXPECT_GT(num_edges(cluster.link_graph()), 0u);
    EXPECT_FALSE(entry.provenance.empty());
    EXPECT_EQ(NodeCatalogue::Embedded().Find(entry.type.id), &entry);
  }
}

TEST(ClusterSpecTest, BadShorthandIsOneSentence) {
  const std::string forms = ", want GPU:NxG (h100-sxm:8x8), NODE:N (dgx-h100:8) or a cluster file";
  const std::string count = ", want a whole number from 1 to 2000000";
  const std::pair<std::string, std::string> cases[] = {
      {"", "--cluster: got \"\"" + forms},
      {"h100x", "--cluster: got \"h100x\"" + forms},
      {"h100", "--cluster: got \"h100\", want h100:NxG for N nodes of G of these GPUs"},
      {"h100:", "--cluster: got \"h100:\", want h100:NxG for N nodes of G of these GPUs"},
      {"dgx-h100", "--cluster: got \"dgx-h100\", want dgx-h100:N for N of these nodes"},
      {":2x8", "--cluster: got \":2x8\"" + forms},
      {"h100:2x8+", "--cluster: got \"\"" + forms},
      {"h100:8", "--cluster: got \"h100:8\", want h100:NxG for a GPU: N nodes of G GPUs"},
      {"h100:0x8", "--cluster: got \"0\" in \"h100:0x8\"" + count},
      {"h100:-2x8", "--cluster: got \"-2\" in \"h100:-2x8\"" + count},
      {"h100:2x", "--cluster: got \"\" in \"h100:2x\"" + count},
      {"h100:x8", "--cluster: got \"\" in \"h100:x8\"" + count},
      {"h100:2x8x8", "--cluster: got \"8x8\" in \"h100:2x8x8\"" + count},
      {"h100:2.5x8", "--cluster: got \"2.5\" in \"h100:2.5x8\"" + count},
      {"h100:99999999999999999999x8",
       "--cluster: got \"99999999999999999999\" in \"h100:99999999999999999999x8\"" + count},
      {"h100:300000x8",
       "--cluster: node_groups[0].count: got 2400000 devices in all, want 2000000 at most"},
      {"h100:1x16", "--cluster: got 16 devices per node, want from 1 to the 8 of a dgx-h100"},
      {"h100-pcie:1x16",
       "--cluster: got 16 devices per node, want from 1 to the 8 of a node of h100-pcie-80gb"},
      {"dgx-h10:8",
       "--cluster: unknown GPU or node type \"dgx-h10\"; did you mean \"dgx-h100\", \"dgx-1p\" or "
       "\"dgx-1v\"?"},
  };
  for (const auto& [spec, want] : cases) EXPECT_EQ(ErrorOf(spec), want);
}

TEST(ClusterSpecTest, FilesThatAreNoClustersAreNamed) {
  const std::string wanted =
      ", want a cluster as .yaml, .json, .textproto or .pb, such as import makes";
  const std::string folder = std::getenv("TEST_TMPDIR");
  const std::string file = Written("topology.conf", "SwitchName=s0 Nodes=n[0-3]\n");
  EXPECT_EQ(ErrorOf(folder), folder + ": got a folder" + wanted);
  EXPECT_EQ(ErrorOf(file),
            file + ": got a file whose name does not end as those of clusters do" + wanted);
  EXPECT_EQ(ErrorOf("no/such"), "no/such: there is no such file" + wanted);
}

TEST(ClusterSpecTest, FilesOfEveryFormatAreRead) {
  const std::string yaml = Written("lab.yaml",
                                   "name: lab\nnode_groups:\n- {device: h100, count: 2, "
                                   "devices_per_node: 4}\n- {node_type: dgx-1v, count: 1}\n");
  const std::string text = Written("lab.textproto",
                                   "node_groups { device: 'h100' count: 2 devices_per_node: 4 } "
                                   "node_groups { node_type: 'dgx-1v' count: 1 }");
  EXPECT_EQ(ParseCluster(yaml).device_count(), 16);
  EXPECT_EQ(ParseCluster(yaml).name(), "lab");
  EXPECT_EQ(ParseCluster(text).device_count(), 16);
  EXPECT_EQ(ParseCluster(text).name(), text);
}

TEST(ClusterSpecTest, BadFilesAreOneSentence) {
  const std::pair<std::string, std::string> cases[] = {
      {"node_groups: [{device: h100, count: 0}]",
       "node_groups[0].count: got 0, want from 1 to 2000000"},
      {"node_groups: [{device: h100, node_type: dgx-h100, count: 1}]",
       "node_groups[0].node_type: got 2 of node_type, inline_node_type and device, want exactly "
       "one"},
      {"node_groups: [{node_type: dgx-h100, count: 1, devices_per_node: 9}]",
       "node_groups[0].devices_per_node: got 9 devices per node, want from 1 to the 8 of a "
       "dgx-h100"},
      {"node_groups: [{device: h100x, count: 1}]",
       "node_groups[0].device: unknown GPU \"h100x\"; did you mean \"H100\", \"h100\" or "
       "\"A100\"?"},
      {"node_groups: [{inline_node_type: {id: x, devices: 1, inline_device: {id: g, power_w: 1}}}]",
       "node_groups[0].inline_node_type.inline_device.generation, inline_device.multiprocessors, "
       "inline_device.boost_clock_hz, inline_device.fp32_flop_per_s, "
       "inline_device.vector_fp32_flop_per_s, inline_device.memory_bytes, "
       "inline_device.memory_bandwidth_bytes_per_s, inline_device.l2_bytes, wiring, intra: got "
       "none "
       "of these, want all of them"},
      {"node_groups: [{inline_node_type: {id: x, device: h100, devices: 1, intra: {kind: PCIE, "
       "bandwidth_gb_per_s: 64}}, count: 1}]",
       "node_groups[0].inline_node_type.wiring: got none, want SWITCHED, CUBE_MESH, ALL_PAIRS, "
       "PAIRS, PCIE or SINGLE_CUBE_MESH"},
      {"node_groups: [{device: h100, count: 1}]\nlinks: [{from: a, to: b}]",
       "links[0].link.kind, bandwidth_bytes_per_s: got none of these, want all of them"},
      {"node_groups: [{device: h100, count: 1}]\nlinks: [{from: a, to: b, link: "
       "{bandwidth_gb_per_s: 1}}]",
       "links[0].link.kind: got none, want NVLINK, PCIE, NETWORK or HOST"},
      {"name: x", "node_groups: got none, want at least one node"},
  };
  for (const auto& [text, want] : cases) {
    const std::string path = Written("bad.yaml", text);
    EXPECT_EQ(ErrorOf(path), path + ": " + want);
  }
  EXPECT_EQ(ErrorOf("no/such.yaml"),
            "no/such.yaml: cannot be read (No such file or directory), want a file");
}

TEST(ClusterProtoTest, RoundTripsShorthandInlineTypesAndLinks) {
  NodeType special = ParseCluster("h100:1x2").node(0);
  special.device.memory_bandwidth = Bandwidth(1e12);
  const Link link = {LinkKind::kHost, Duration::Nanoseconds(7), Bandwidth(3e9)};
  const Cluster clusters[] = {
      ParseCluster("h100:2x4+dgx-1v:1"),
      Cluster("inline", {{special, 2}}),
      Cluster("wired", {{UseDevices(special, 1), 2}},
              {{"node0/gpu0", "node1/gpu0", link}, {"node1/gpu0", "node0/gpu0", link}}),
  };
  for (const Cluster& cluster : clusters) {
    const ClusterProto proto = ToProto(cluster);
    const Cluster again = ClusterFromProto(proto, "x");
    EXPECT_EQ(again.name(), cluster.name());
    EXPECT_EQ(ToProto(again).SerializeAsString(), proto.SerializeAsString());
    ASSERT_EQ(again.groups().size(), cluster.groups().size());
    for (size_t i = 0; i < cluster.groups().size(); ++i) {
      EXPECT_EQ(again.groups()[i].type, cluster.groups()[i].type);
      EXPECT_EQ(again.groups()[i].count, cluster.groups()[i].count);
    }
  }
}

}  // namespace
}  // namespace stagecraft
