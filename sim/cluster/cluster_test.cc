#include "sim/cluster/cluster.h"

#include <gtest/gtest.h>

#include <vector>

#include "costmodel/units.h"
#include "sim/cluster/link_graph.h"
#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

TEST(ClusterTest, CountsDevicesNodeByNode) {
  const Cluster cluster("c", {{Switched(), 2}, {Pairs(), 1}});
  EXPECT_EQ(cluster.device_count(), 20);
  EXPECT_EQ(cluster.node_count(), 3);
  EXPECT_EQ(cluster.place(9), (DevicePlace{1, 1}));
  EXPECT_EQ(cluster.DeviceName(19), "node2/gpu3");
  EXPECT_EQ(cluster.first_device(2), 16);
  EXPECT_EQ(cluster.node(2).id, "pairs");
  EXPECT_EQ(cluster.device_group(15), 0);
  EXPECT_EQ(cluster.device_group(16), 1);
  EXPECT_FALSE(cluster.homogeneous());
  EXPECT_TRUE(Cluster("c", {{Pairs(), 1}, {Pairs(), 2}}).homogeneous());
}

TEST(ClusterTest, RouteInsideASwitchedNodePassesTheSwitch) {
  const Cluster cluster("c", {{Switched(), 2}});
  const Route route = cluster.FindRoute(8, 15);
  EXPECT_EQ(route.narrowest, MakeLink(LinkKind::kNvlink, 1_us, 400));
  EXPECT_EQ(route.links.size(), 2u);
  EXPECT_FALSE(route.crosses_domains);
}

TEST(ClusterTest, RouteBetweenNodesPassesBothInterfaces) {
  const Cluster cluster("c", {{Switched(), 2}});
  const Route route = cluster.FindRoute(0, 8);
  EXPECT_EQ(route.narrowest, MakeLink(LinkKind::kNetwork, 5_us, 40));
  EXPECT_EQ(route.links.size(), 4u);
  EXPECT_TRUE(route.crosses_domains);
}

TEST(ClusterTest, RoutesByConstructionAreThoseThatTheGraphFinds) {
  NodeType two_domains = Switched();
  two_domains.domain = 4;
  NodeType many_nics = Switched();
  many_nics.nics = 16;
  NodeType all_pairs = Pairs();
  all_pairs.wiring = Wiring::kAllPairs;
  NodeType pcie = Pairs();
  pcie.wiring = Wiring::kPcie;
  NodeType single = CubeMeshNode();
  single.wiring = Wiring::kSingleCubeMesh;
  const Cluster cluster("c", {{two_domains, 1},
                              {CubeMeshNode(), 1},
                              {Pairs(), 2},
                              {Rack(), 3},
                              {many_nics, 1},
                              {all_pairs, 1},
                              {single, 1},
                              {pcie, 1}});
  const LinkGraph& graph = cluster.link_graph();
  std::vector<int> vertex(cluster.device_count());
  for (int i = 0; i < static_cast<int>(num_vertices(graph)); ++i) {
    if (graph[i].device < 0) continue;
    vertex[graph[i].device] = i;
    EXPECT_EQ(graph[i].name, cluster.DeviceName(graph[i].device));
  }
  for (int from = 0; from < cluster.device_count(); ++from) {
    for (int to = 0; to < cluster.device_count(); ++to) {
      if (from == to) continue;
      const Route built = cluster.FindRoute(from, to);
      const Route found = FindGraphRoute(graph, vertex[from], vertex[to]);
      EXPECT_EQ(built.links, found.links) << from << " to " << to;
      EXPECT_EQ(built.narrowest, found.narrowest) << from << " to " << to;
    }
  }
}

TEST(ClusterTest, NodesOfADomainAreJoinedByTheSwitch) {
  const Cluster cluster("c", {{Switched(), 1}, {Rack(), 5}});  // domains: 0, 1 1, 2 2, 3
  EXPECT_EQ(cluster.domain(0), 0);
  EXPECT_EQ(cluster.domain(1), cluster.domain(2));
  EXPECT_NE(cluster.domain(2), cluster.domain(3));
  EXPECT_EQ(cluster.domain(5), 3);
  const Route route = cluster.FindRoute(8, 12);  // nodes 1 and 2
  EXPECT_EQ(route.narrowest, MakeLink(LinkKind::kNvlink, 1_us, 400));
  EXPECT_EQ(route.links.size(), 2u);
  EXPECT_FALSE(route.crosses_domains);
  EXPECT_TRUE(cluster.FindRoute(12, 16).crosses_domains);
  const Fabric pair = cluster.DescribePair(8, 12, 4);
  EXPECT_EQ(pair.nodes, 1);
  EXPECT_EQ(GigabytesPerSecond(pair.intra), 400);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(12, 16, 1).inter), 40);
}

TEST(ClusterTest, GroupsCountDomainsAndAddTheirInterfaces) {
  const Cluster cluster("c", {{Rack(), 4}});  // two domains of 2 x 4 devices
  const Fabric inside = cluster.DescribeGroup(Range(0, 8));
  EXPECT_EQ(inside.nodes, 1);
  EXPECT_EQ(inside.ranks_per_node, 8);
  EXPECT_EQ(GigabytesPerSecond(inside.intra), 400);
  EXPECT_TRUE(inside.nvls);
  const Fabric all = cluster.DescribeGroup(Range(0, 16));
  EXPECT_EQ(all.nodes, 2);
  EXPECT_EQ(all.ranks_per_node, 8);
  EXPECT_EQ(GigabytesPerSecond(all.inter), 320);                 // 2 nodes x 4 x 40
  const Fabric strided = cluster.DescribeGroup(Range(0, 4, 4));  // one device a node
  EXPECT_EQ(strided.nodes, 2);
  EXPECT_EQ(strided.ranks_per_node, 2);
  EXPECT_EQ(GigabytesPerSecond(strided.intra), 400);
  EXPECT_EQ(GigabytesPerSecond(strided.inter), 80);
}

TEST(ClusterTest, AnotherNetworkHasItsUsualLatency) {
  const Cluster cluster("two", {{Switched(), 2}});
  const Cluster sockets = cluster.WithNetwork(NetworkKind::kEthernet, "--transport");
  EXPECT_EQ(sockets.node(0).nic.network, NetworkKind::kEthernet);
  EXPECT_EQ(sockets.node(0).nic.latency, UsualLatency(NetworkKind::kEthernet));
  EXPECT_EQ(sockets.node(0).nic.bandwidth, cluster.node(0).nic.bandwidth);
  const std::vector<int> pair = {0, cluster.first_device(1)};
  EXPECT_EQ(sockets.DescribeGroup(pair).inter.network, NetworkKind::kEthernet);
  EXPECT_GT(sockets.DescribeGroup(pair).inter.latency, cluster.DescribeGroup(pair).inter.latency);
}

TEST(ClusterTest, FewerDevicesOfANodeKeepItsDomain) {
  const NodeType half = UseDevices(Rack(), 2);
  EXPECT_EQ(half.domain_nodes, 2);
  EXPECT_TRUE(FindErrors(half).empty());
  EXPECT_EQ(Cluster("c", {{half, 2}}).DescribeGroup(Range(0, 4)).nodes, 1);
}

TEST(ClusterTest, OnlyAWholeSwitchedNodeMayJoinADomain) {
  NodeType type = Pairs();
  type.domain_nodes = 2;
  ASSERT_EQ(FindErrors(type).size(), 1u);
  EXPECT_EQ(FindErrors(type)[0],
            "domain_nodes: got 2, want 1 unless one switch joins all devices of the node");
  type = Rack();
  type.domain = 2;
  EXPECT_EQ(FindErrors(type).size(), 1u);
  type = Rack();
  type.domain_nodes = 0;
  EXPECT_EQ(FindErrors(type)[0], "domain_nodes: got 0, want from 1 to 1024");
}

TEST(ClusterTest, WholeNodesShareAllInterfaces) {
  const Cluster cluster("c", {{Switched(), 4}});
  const Fabric fabric = cluster.DescribeGroup(Range(0, 32));
  EXPECT_EQ(fabric.ranks, 32);
  EXPECT_EQ(fabric.nodes, 4);
  EXPECT_EQ(fabric.ranks_per_node, 8);
  EXPECT_EQ(GigabytesPerSecond(fabric.intra), 400);
  EXPECT_EQ(GigabytesPerSecond(fabric.inter), 320);  // 8 x 40
  EXPECT_EQ(fabric.inter.latency, 5_us);
  EXPECT_TRUE(fabric.nvls);
}

TEST(ClusterTest, OneRankANodeHasItsShareOfTheInterfaces) {
  const Cluster cluster("c", {{CubeMeshNode(), 2}});
  const Fabric fabric = cluster.DescribeGroup(Range(0, 2, 8));
  EXPECT_EQ(fabric.ranks_per_node, 1);
  EXPECT_EQ(GigabytesPerSecond(fabric.inter), 1.25);  // 10 / 8
  EXPECT_GT(fabric.intra.bandwidth.bytes_per_s(), 0);
}

TEST(ClusterTest, UnevenGroupsCountTheNodeWithTheFewest) {
  const Cluster cluster("c", {{Switched(), 2}});
  const std::vector<int> devices = {9, 0, 1, 2, 8};  // any order
  const Fabric fabric = cluster.DescribeGroup(devices);
  EXPECT_EQ(fabric.ranks_per_node, 2);
  EXPECT_EQ(GigabytesPerSecond(fabric.inter), 80);  // 2 x 40
}

TEST(ClusterTest, SlowestNodeTypeWins) {
  const Cluster cluster("c", {{Switched(), 1}, {CubeMeshNode(), 1}});
  const Fabric fabric = cluster.DescribeGroup(Range(0, 16));
  EXPECT_EQ(GigabytesPerSecond(fabric.intra), 150);
  EXPECT_EQ(GigabytesPerSecond(fabric.inter), 10);
  EXPECT_FALSE(fabric.nvls);
}

TEST(ClusterTest, CubeMeshRingsDependOnTheDevices) {
  const Cluster cluster("c", {{CubeMeshNode(), 1}});
  const auto ring = [&](const std::vector<int>& devices) {
    return GigabytesPerSecond(cluster.DescribeGroup(devices).intra);
  };
  EXPECT_EQ(ring(Range(0, 8)), 150);
  EXPECT_EQ(ring(Range(0, 4)), 100);
  EXPECT_EQ(ring({0, 1}), 25);
  EXPECT_EQ(ring({0, 3}), 50);
  EXPECT_EQ(ring({0, 5}), 16);       // no link: PCIe
  EXPECT_EQ(ring(Range(0, 5)), 16);  // device 4 has one neighbour among them
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 5).narrowest), 16);
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 4).narrowest), 50);
}

TEST(ClusterTest, CubeMeshGivesEveryDeviceSixLinks) {
  const Cluster cluster("c", {{CubeMeshNode(), 1}});
  for (int from = 0; from < 8; ++from) {
    double total = 0;
    for (int to = 0; to < 8; ++to) {
      if (from == to) continue;
      const Link link = cluster.FindRoute(from, to).narrowest;
      if (link.kind == LinkKind::kNvlink) total += GigabytesPerSecond(link);
    }
    EXPECT_EQ(total, 150) << from;
  }
}

// Like the mesh above, with one link where there were two: each device has four.
TEST(ClusterTest, SingleCubeMeshHasOneLinkAPair) {
  NodeType type = CubeMeshNode();
  type.wiring = Wiring::kSingleCubeMesh;
  type.intra.bandwidth = Bandwidth(80e9);
  const Cluster cluster("c", {{type, 1}});
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 4).narrowest), 20);
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 1).narrowest), 20);
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 5).narrowest), 16);  // no link: PCIe
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 8)).intra), 80);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 4)).intra), 40);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 2)).intra), 20);
}

TEST(ClusterTest, BridgedPairsFallBackToPcie) {
  const Cluster cluster("c", {{Pairs(), 1}});
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(2, 2)).intra), 300);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(1, 2)).intra), 16);
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 4)).intra, MakeLink(LinkKind::kPcie, 2_us, 16));
}

TEST(ClusterTest, AllPairsDividesTheLinksAmongThePeers) {
  NodeType type = Pairs();
  type.wiring = Wiring::kAllPairs;
  const Cluster cluster("c", {{type, 1}});
  EXPECT_EQ(GigabytesPerSecond(cluster.FindRoute(0, 3).narrowest), 100);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 4)).intra), 300);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 2)).intra), 100);
}

TEST(ClusterTest, LoneRankHasAFabricToo) {
  const Cluster cluster("c", {{Switched(), 2}});
  const std::vector<int> one = {3};
  const Fabric fabric = cluster.DescribeGroup(one);
  EXPECT_EQ(fabric.ranks, 1);
  EXPECT_EQ(fabric.nodes, 1);
  EXPECT_FALSE(fabric.nvls);
}

TEST(ClusterTest, PairsShareTheInterfacesOnceTheyOutnumberThem) {
  NodeType type = Switched();
  type.nics = 4;
  const Cluster cluster("c", {{type, 2}});
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 1, 3).intra), 400);
  EXPECT_EQ(cluster.DescribePair(0, 1, 3).nodes, 1);
  const Fabric alone = cluster.DescribePair(0, 8, 1);
  EXPECT_EQ(alone.nodes, 2);
  EXPECT_EQ(alone.ranks_per_node, 1);
  EXPECT_EQ(GigabytesPerSecond(alone.inter), 40);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 8, 4).inter), 40);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 8, 8).inter), 20);
  type.nics = 32;  // four a device: 160 GB/s, but its port carries 50
  EXPECT_EQ(GigabytesPerSecond(Cluster("c", {{type, 2}}).DescribePair(0, 8, 1).inter), 50);
}

TEST(ClusterTest, FewerDevicesOfANodeIdleTheirOwnInterfacesOnly) {
  const NodeType own = UseDevices(Switched(), 2);
  EXPECT_EQ(own.nics, 2);
  EXPECT_EQ(own.devices, 2);
  EXPECT_EQ(own.idle_devices, 6);
  NodeType shared = Switched();
  shared.nics = 4;
  EXPECT_EQ(UseDevices(shared, 2).nics, 4);
  EXPECT_EQ(UseDevices(Switched(), 8), [] {
    NodeType all = Switched();
    all.domain = 8;
    return all;
  }());
}

// Only the kinds of nodes in a large group matter, not how many nodes of each kind there are.
TEST(ClusterTest, ManyNodesOfTwoKindsAreDescribedAsOneOfEach) {
  const Cluster cluster("nodes", {{Switched(), 100}, {Rack(), 100}});
  std::vector<int> all, some;
  for (int node = 0; node < 100; ++node) {
    for (int local = node % 2; local < 8; local += 1 + node % 2) all.push_back(8 * node + local);
  }
  for (int domain = 0; domain < 50; ++domain) {
    for (const int local : {0, 3, 5}) all.push_back(800 + 8 * domain + local);
  }
  for (int local = 0; local < 8; ++local) some.push_back(local);
  for (int local = 1; local < 8; local += 2) some.push_back(8 + local);
  for (const int local : {0, 3, 5}) some.push_back(800 + local);
  std::reverse(all.begin(), all.end());  // the order of a group does not matter
  for (const Traffic traffic : {Traffic::kRing, Traffic::kAllToAll}) {
    Fabric few = cluster.DescribeGroup(some, traffic);
    EXPECT_EQ(few.nodes, 3);
    EXPECT_EQ(few.ranks_per_node, 3);
    few.nodes = 150;
    few.ranks = 100 * 6 + 50 * 3;
    EXPECT_EQ(cluster.DescribeGroup(all, traffic), few);
  }
}

}  // namespace
}  // namespace stagecraft
