// Clusters whose files describe their networks and PCIe trees.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/cluster.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/cluster_testing.h"
#include "sim/cluster/link_graph.h"
#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

// Each node has eight GPUs, with an interface of 50 GB/s each.
std::string Nodes(int count) {
  return "node_groups: [{node_type: dgx-h100, count: " + std::to_string(count) + "}]\n";
}

constexpr char kTwoToOne[] =
    "fabrics: [{name: ib, kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{oversubscription: 2}]}]\n";

// A leaf has 16 interfaces of 50 GB/s below it and therefore, at two to one, 8 uplinks of 50 GB/s.
TEST(ClusterFabricTest, OversubscriptionSizesTheUplinks) {
  const Cluster cluster = ReadYamlCluster(Nodes(4) + kTwoToOne);
  const FabricTier& tier = cluster.interconnect().fabrics[0].tiers[0];
  EXPECT_EQ(tier.uplinks, 8);
  EXPECT_EQ(tier.up.bandwidth, Bandwidth(50e9));
  EXPECT_EQ(tier.up.latency, Duration::Nanoseconds(300));
  EXPECT_EQ(tier.down, tier.up);
}

TEST(ClusterFabricTest, RoutesPassTheFabric) {
  const Cluster cluster = ReadYamlCluster(Nodes(4) + kTwoToOne);
  const Route near = cluster.FindRoute(0, 8);
  const Route far = cluster.FindRoute(0, 16);
  EXPECT_EQ(far.links.size(), near.links.size() + 2);
  EXPECT_EQ(far.narrowest.latency, near.narrowest.latency + Duration::Nanoseconds(600));
  std::string names;
  for (const int link : far.links) names += cluster.LinkName(link) + "; ";
  EXPECT_TRUE(
      names.starts_with("node0/gpu0 -> node0/pcie0; node0/pcie0 -> node0/nic0; "
                        "node0/nic0 -> ib/leaf0; ib/leaf0 -> ib/spine"))
      << names;
  EXPECT_TRUE(
      names.ends_with(" -> ib/leaf1; ib/leaf1 -> node2/nic0; node2/nic0 -> node2/pcie0; "
                      "node2/pcie0 -> node2/gpu0; "))
      << names;
}

TEST(ClusterFabricTest, FlowsSpreadOverTheSpines) {
  const Cluster cluster = ReadYamlCluster(Nodes(4) + kTwoToOne);
  bool differs = false;
  for (int flow = 1; flow < 8; ++flow) {
    differs = differs || cluster.FindRoute(0, 16, flow).links != cluster.FindRoute(0, 16).links;
  }
  EXPECT_TRUE(differs);
}

// The graph has the links that routes name, with the same ends and widths.
TEST(ClusterFabricTest, TheGraphAgreesWithTheLinksByIndex) {
  const Cluster cluster = ReadYamlCluster(
      "node_groups: [{node_type: dgx-h100, count: 5, fabric: a},"
      "{node_type: dgx-1v, count: 3, fabric: b}, {node_type: gb200-nvl72, count: 19, fabric: a}]\n"
      "fabrics: [{name: a, kind: RAIL_OPTIMISED, nodes_per_leaf: 2, nodes_per_pod: 4,"
      "  tiers: [{oversubscription: 1}, {oversubscription: 7}]},"
      "{name: b, kind: SINGLE_SWITCH}]\n"
      "fabric_joins: [{from: a, to: b, link: {kind: NETWORK, latency_ns: 10000, "
      "bandwidth_bytes_per_s: 1e11}}]\n");
  const LinkGraph& graph = cluster.link_graph();
  ASSERT_EQ(static_cast<int>(num_edges(graph)), cluster.link_count());
  std::vector<std::string> names(cluster.link_count());
  const auto [begin, end] = edges(graph);
  for (auto edge = begin; edge != end; ++edge) {
    const ClusterLink& link = graph[*edge];
    EXPECT_EQ(cluster.link(link.index), static_cast<const Link&>(link));
    names[link.index] =
        graph[source(*edge, graph)].name + " -> " + graph[target(*edge, graph)].name;
    EXPECT_EQ(names[link.index], cluster.LinkName(link.index));
  }
  for (int from = 0; from < cluster.device_count(); from += 5) {
    for (int to = 1; to < cluster.device_count(); to += 7) {
      if (from == to) continue;
      std::string at = cluster.DeviceName(from);
      for (const int link : cluster.FindRoute(from, to).links) {
        ASSERT_TRUE(names[link].starts_with(at + " -> ")) << names[link] << " from " << at;
        at = names[link].substr(names[link].find(" -> ") + 4);
      }
      EXPECT_EQ(at, cluster.DeviceName(to));
    }
  }
}

TEST(ClusterFabricTest, GroupsSeeOversubscription) {
  // Below a leaf there are 16 x 50 GB/s; ten to one leaves 80 above it.
  const Cluster cluster = ReadYamlCluster(Nodes(4) +
                                          "fabrics: [{kind: FAT_TREE, nodes_per_leaf: 2, "
                                          "tiers: [{oversubscription: 10}]}]\n");
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 16)).inter), 400);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 32)).inter), 80);
  const Fabric experts = cluster.DescribeGroup(Range(0, 32), Traffic::kAllToAll);
  EXPECT_DOUBLE_EQ(GigabytesPerSecond(experts.inter), 60);  // 80 / (2 x 2/3)
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 4, 8)).inter), 10);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 8, 1).inter), 50);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 16, 1).inter), 40);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 16, 8).inter), 5);
}

// The clusters have mixed nodes, cube meshes, pairs below one PCIe switch, and uplinks that are
// shared.
TEST(ClusterFabricTest, PairsOfOneClassAreDescribedAlike) {
  const Cluster clusters[] = {
      ParseCluster("h100-sxm:3x8"), ParseCluster("v100-sxm2-16gb:3x8+a100-sxm4-80gb:2x8"),
      ParseCluster("pcie-8x4090:2+gb200-nvl72:20"), ReadYamlCluster(Nodes(6) + kTwoToOne)};
  for (const Cluster& cluster : clusters) {
    std::map<int64_t, std::pair<int, int>> first;  // by class
    size_t pairs = 0;
    for (int from = 0; from < cluster.device_count(); ++from) {
      for (int to = 0; to < cluster.device_count(); ++to) {
        if (from == to) continue;
        ++pairs;
        const auto [entry, is_new] =
            first.try_emplace(cluster.PairClass(from, to), std::pair(from, to));
        for (const int concurrent : {1, 4}) {
          EXPECT_EQ(cluster.DescribePair(from, to, concurrent),
                    cluster.DescribePair(entry->second.first, entry->second.second, concurrent))
              << cluster.name() << " " << from << " " << to;
        }
      }
    }
    const bool shares_uplinks = &cluster == &clusters[3];
    EXPECT_EQ(first.size() == pairs, shares_uplinks) << cluster.name();
  }
}

// Only the way up to a spine and down again takes time.
TEST(ClusterFabricTest, AWideFabricAddsTheLatencyOfItsSwitchesAlone) {
  const Cluster plain = ReadYamlCluster(Nodes(4));
  const Cluster wide = ReadYamlCluster(Nodes(4) +
                                       "fabrics: [{kind: FAT_TREE, nodes_per_leaf: 2, "
                                       "tiers: [{oversubscription: 0.25}]}]\n");
  for (const std::vector<int>& group : {Range(0, 32), Range(0, 4, 8)}) {
    Fabric through_spine = plain.DescribeGroup(group);
    through_spine.inter.latency += Duration::Nanoseconds(600);
    EXPECT_EQ(wide.DescribeGroup(group), through_spine);
  }
  EXPECT_EQ(plain.DescribeGroup(Range(0, 16)), wide.DescribeGroup(Range(0, 16)));
  EXPECT_EQ(plain.DescribePair(0, 8, 8), wide.DescribePair(0, 8, 8));
}

// At one to one, 32 of 64 ports are for nodes, which have 8 interfaces each.
TEST(ClusterFabricTest, ARadixSizesTheLeaves) {
  const Cluster tree = ReadYamlCluster(Nodes(16) +
                                       "fabrics: [{kind: FAT_TREE, radix: 64, "
                                       "tiers: [{oversubscription: 1}]}]\n");
  EXPECT_EQ(tree.interconnect().fabrics[0].nodes_per_leaf, 4);
  EXPECT_EQ(tree.interconnect().fabrics[0].tiers[0].uplinks, 32);
  const Cluster rails = ReadYamlCluster(Nodes(16) +
                                        "fabrics: [{kind: RAIL_OPTIMISED, radix: 64, "
                                        "tiers: [{oversubscription: 1}]}]\n");
  EXPECT_EQ(rails.interconnect().fabrics[0].nodes_per_leaf, 32);
  const Cluster leaves = ReadYamlCluster(Nodes(16) +
                                         "fabrics: [{kind: FAT_TREE, leaves: 3, "
                                         "tiers: [{oversubscription: 1}]}]\n");
  EXPECT_EQ(leaves.interconnect().fabrics[0].nodes_per_leaf, 6);
}

TEST(ClusterFabricTest, LeavesMayBeUneven) {
  const std::string fabric =
      "fabrics: [{kind: FAT_TREE, leaf_nodes: [1, 3], tiers: "
      "[{oversubscription: 1}]}]\n";
  const Cluster cluster = ReadYamlCluster(Nodes(4) + fabric);
  EXPECT_EQ(cluster.FindRoute(8, 24).links.size(), cluster.FindRoute(8, 16).links.size());
  EXPECT_EQ(cluster.FindRoute(0, 8).links.size(), cluster.FindRoute(8, 16).links.size() + 2);
  EXPECT_EQ(cluster.interconnect().fabrics[0].tiers[0].uplinks, 24);  // those of the fullest leaf
  EXPECT_EQ(ClusterFromProto(ToProto(cluster), "x").interconnect(), cluster.interconnect());
  EXPECT_EQ(YamlClusterError(Nodes(5) + fabric),
            "c.yaml: fabrics[0].leaf_nodes: got 4, want the 5 nodes of the fabric in all");
}

TEST(ClusterFabricTest, WireFormsComeBackEqual) {
  const Cluster cluster = ReadYamlCluster(
      "ecmp_seed: 7\n"
      "node_groups: [{node_type: dgx-h100, count: 4}, {node_type: dgx-a100, count: 4, fabric: "
      "eth}]\n"
      "fabrics: [{name: ib, kind: FAT_TREE, nodes_per_leaf: 2, nodes_per_pod: 4, tiers: "
      "[{oversubscription: 1.5}, {uplinks: 3, up: {kind: NETWORK, latency_ns: 5, "
      "bandwidth_bytes_per_s: 1e9}, down: {kind: NETWORK, latency_ns: 6, bandwidth_bytes_per_s: "
      "2e9}}]}, {name: eth, kind: SINGLE_SWITCH}]\n"
      "fabric_joins: [{from: eth, to: ib, link: {kind: NETWORK, bandwidth_bytes_per_s: 1e9}}]\n");
  const Cluster again = ClusterFromProto(ToProto(cluster), "x");
  EXPECT_EQ(again.interconnect(), cluster.interconnect());
  EXPECT_EQ(again.groups()[1].fabric, 1);
  EXPECT_EQ(ToProto(again).SerializeAsString(), ToProto(cluster).SerializeAsString());
}

// Two root complexes have a switch each with two GPUs; one interface is below the first switch.
NodeType Server() {
  NodeType type = CubeMeshNode();
  type.wiring = Wiring::kPcie;
  type.devices = 4;
  type.intra = MakeLink(LinkKind::kPcie, 1_us, 24);
  type.pcie.roots = 2;
  type.pcie.switch_root = {0, 1};
  type.pcie.device_switch = {0, 0, 1, 1};
  type.pcie.nic_switch = {0};
  type.pcie.uplinks.assign(2, MakeLink(LinkKind::kPcie, Duration::Nanoseconds(100), 24));
  type.pcie.root_link = MakeLink(LinkKind::kHost, Duration::Nanoseconds(200), 16);
  return type;
}

TEST(ClusterPcieTest, RoutesClimbTheTree) {
  const Cluster cluster("c", {{Server(), 2}});
  EXPECT_EQ(cluster.FindRoute(0, 1).links.size(), 2u);
  const Route across = cluster.FindRoute(0, 2);
  EXPECT_EQ(across.links.size(), 5u);
  EXPECT_EQ(GigabytesPerSecond(across.narrowest), 16);
  EXPECT_EQ(across.narrowest.latency, Duration::Nanoseconds(1000 + 100 + 200 + 100));
  const Route out = cluster.FindRoute(0, 4);
  EXPECT_EQ(out.narrowest.latency, 5_us);  // the interface's own covers the ports
  EXPECT_EQ(cluster.FindRoute(2, 4).links.size(), out.links.size() + 3);
}

TEST(ClusterPcieTest, GroupsShareUplinks) {
  const Cluster cluster("c", {{Server(), 2}});
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 2)).intra), 24);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 4)).intra), 16);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 2, 2)).intra), 8);
}

TEST(ClusterPcieTest, UnlikeUplinksSurviveTheWire) {
  NodeType type = Server();
  type.device = ReadYamlCluster(Nodes(1)).device(0);
  const ClusterProto alike = ToProto(Cluster("c", {{type, 1}}));
  EXPECT_EQ(alike.node_groups(0).inline_node_type().pcie().uplinks_size(), 0);
  type.pcie.uplinks[1] = MakeLink(LinkKind::kPcie, Duration::Nanoseconds(100), 12);
  const Cluster cluster("c", {{type, 1}});
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(2, 0).narrowest), 12);
  ClusterProto proto = ToProto(cluster);
  EXPECT_EQ(ClusterFromProto(proto, "x").node(0).pcie, type.pcie);
  PcieTreeProto* pcie = proto.mutable_node_groups(0)->mutable_inline_node_type()->mutable_pcie();
  *pcie->mutable_uplink() = pcie->uplinks(0);
  EXPECT_THROW(ClusterFromProto(proto, "x"), InputError);  // both
}

TEST(ClusterPcieTest, FewerDevicesKeepTheirPlacesInTheTree) {
  const NodeType two = UseDevices(Server(), 2);
  EXPECT_EQ(two.pcie.device_switch, (std::vector<int>{0, 0}));
  EXPECT_TRUE(FindErrors(two).empty());
}

TEST(ClusterFabricTest, BadFabricsAreOneSentence) {
  const std::pair<std::string, std::string> cases[] = {
      {"{name: a}", "fabrics[0].kind: got none, want SINGLE_SWITCH, RAIL_OPTIMISED or FAT_TREE"},
      {"{kind: SINGLE_SWITCH, leaves: 2}",
       "fabrics[0].kind: got SINGLE_SWITCH with leaves, want RAIL_OPTIMISED or FAT_TREE"},
      {"{kind: FAT_TREE, nodes_per_leaf: 2}",
       "fabrics[0].tiers: got 0, want one, or two and nodes_per_pod"},
      {"{kind: FAT_TREE, tiers: [{oversubscription: 1}]}",
       "fabrics[0].nodes_per_leaf: got 0, want exactly one of nodes_per_leaf, leaf_nodes, leaves "
       "and "
       "radix"},
      {"{kind: FAT_TREE, nodes_per_leaf: -2, tiers: [{uplinks: 1, oversubscription: 1}]}",
       "fabrics[0].nodes_per_leaf: got -2, want at least 1"},
      {"{kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{}]}",
       "fabrics[0].tiers[0].up: got neither of up and oversubscription, want one"},
      {"{kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{oversubscription: -1}]}",
       "fabrics[0].tiers[0].oversubscription: got -1, want from 0.001 to 1000, or up for the link "
       "itself"},
      {"{kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{oversubscription: 1e-9}]}",
       "fabrics[0].tiers[0].oversubscription: got 0, want from 0.001 to 1000, or up for the link "
       "itself"},
      {"{kind: FAT_TREE, radix: 8, tiers: [{oversubscription: 1}]}",
       "fabrics[0].radix: got 8, want ports for the 8 interfaces of a node and an uplink"},
      {"{kind: FAT_TREE, nodes_per_leaf: 2, nodes_per_pod: 3, tiers: [{oversubscription: 1}, "
       "{oversubscription: 1}]}",
       "fabrics[0].nodes_per_pod: got 3, want a multiple of the 2 nodes of a leaf"},
      {"{name: node1, kind: SINGLE_SWITCH}",
       "fabrics[0].name: got \"node1\", want a name without '/' that opens with neither node nor "
       "domain"},
  };
  for (const auto& [fabric, want] : cases) {
    EXPECT_EQ(YamlClusterError(Nodes(4) + "fabrics: [" + fabric + "]\n"), "c.yaml: " + want);
  }
  EXPECT_EQ(YamlClusterError("node_groups: [{node_type: dgx-h100, count: 2, fabric: ib}]\n"),
            "c.yaml: node_groups[0].fabric: unknown fabric \"ib\"; want \"fabric\"");
}

TEST(ClusterFabricTest, TheDescriptionNamesTheFabrics) {
  EXPECT_NE(DescribeCluster(ReadYamlCluster(Nodes(4) + kTwoToOne))
                .find("; ib: fat tree, 2 nodes per leaf, 8 uplinks of 50 GB/s"),
            std::string::npos)
      << DescribeCluster(ReadYamlCluster(Nodes(4) + kTwoToOne));
}

}  // namespace
}  // namespace stagecraft
