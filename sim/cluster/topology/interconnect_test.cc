#include "sim/cluster/topology/interconnect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace stagecraft {
namespace {

Link Cable(double gigabytes_per_s) {
  return {LinkKind::kNetwork, Duration::Nanoseconds(300), Bandwidth(gigabytes_per_s * 1e9)};
}

// There are two nodes a leaf, and two spines over 10 GB/s links.
FabricSpec Tree() {
  FabricSpec spec;
  spec.name = "ib";
  spec.kind = FabricKind::kFatTree;
  spec.nodes_per_leaf = 2;
  spec.tiers = {{2, Cable(10), Cable(10)}};
  return spec;
}

// The same with pods of two leaves and with four cores.
FabricSpec ThreeTiers() {
  FabricSpec spec = Tree();
  spec.nodes_per_pod = 4;
  spec.tiers.push_back({2, Cable(5), Cable(5)});
  return spec;
}

InterconnectSpec Only(FabricSpec fabric) { return {{std::move(fabric)}, {}, 0}; }

std::vector<std::string> Names(const Interconnect& net, const std::vector<int>& links) {
  std::vector<std::string> names;
  for (const int index : links) {
    const SwitchedFabric::Cable cable = net.link(index);
    names.push_back(net.SwitchName(cable.from) + " -> " + net.SwitchName(cable.to));
  }
  return names;
}

// Checks that every path is a chain of links from one port's switch to the other's.
void ExpectChains(const Interconnect& net, int nodes, int rails) {
  for (int from = 0; from < nodes * rails; ++from) {
    for (int to = 0; to < nodes * rails; ++to) {
      const Port start = {from / rails, from % rails};
      const Port goal = {to / rails, to % rails};
      int at = net.SwitchOf(start);
      for (const int index : net.Path(start, goal, from * 1000 + to)) {
        ASSERT_EQ(net.link(index).from, at);
        at = net.link(index).to;
      }
      EXPECT_EQ(at, net.SwitchOf(goal)) << from << " " << to;
    }
  }
}

TEST(InterconnectTest, OneSwitchHasNoLinksOfItsOwn) {
  const Interconnect net(InterconnectSpec(), {{0, 4, {1}}});
  EXPECT_EQ(net.link_count(), 0);
  EXPECT_EQ(net.SwitchName(net.SwitchOf({3, 0})), "fabric");
  EXPECT_TRUE(net.Path({0, 0}, {3, 0}, 0).empty());
}

// leaf0: nodes 0 1, leaf1: nodes 2 3, both below spines 0 and 1.
TEST(InterconnectTest, AFatTreeRoutesOverOneSpine) {
  const Interconnect net(Only(Tree()), {{0, 4, {1}}});
  EXPECT_EQ(net.link_count(), 8);  // 2 leaves x 2 spines, both ways
  EXPECT_TRUE(net.Path({0, 0}, {1, 0}, 0).empty());
  const std::vector<std::string> way = Names(net, net.Path({1, 0}, {2, 0}, 0));
  ASSERT_EQ(way.size(), 2u);
  EXPECT_TRUE(way[0] == "ib/leaf0 -> ib/spine0" || way[0] == "ib/leaf0 -> ib/spine1");
  EXPECT_EQ(way[1].substr(way[1].find(" -> ")), " -> ib/leaf1");
  ExpectChains(net, 4, 1);
}

TEST(InterconnectTest, ThreeTiersPassACoreBetweenPods) {
  const Interconnect net(Only(ThreeTiers()), {{0, 7, {1}}});
  EXPECT_EQ(net.switch_count(), 4 + 4 + 4);  // leaves, spines of two pods, cores
  EXPECT_EQ(net.link_count(), 2 * (4 * 2 + 4 * 2));
  EXPECT_EQ(net.Path({0, 0}, {2, 0}, 0).size(), 2u);  // within the pod
  EXPECT_EQ(net.Path({0, 0}, {6, 0}, 0).size(), 4u);
  ExpectChains(net, 7, 1);
}

TEST(InterconnectTest, RailsHaveLeavesOfTheirOwn) {
  FabricSpec spec = Tree();
  spec.kind = FabricKind::kRailOptimised;
  const Interconnect net(Only(spec), {{0, 4, {1, 1}}});
  EXPECT_EQ(net.SwitchName(net.SwitchOf({3, 1})), "ib/rail1/leaf1");
  EXPECT_TRUE(net.Path({0, 1}, {1, 1}, 0).empty());   // same rail, same leaf
  EXPECT_EQ(net.Path({0, 0}, {1, 1}, 0).size(), 2u);  // another rail: over a spine
  EXPECT_EQ(net.Path({0, 1}, {2, 1}, 0).size(), 2u);
  ExpectChains(net, 4, 2);
}

// a: tree, b: single switch, c: three tiers; a - b - c.
TEST(InterconnectTest, JoinedFabricsMeetAtTheirGateways) {
  FabricSpec a = Tree();
  FabricSpec b;
  FabricSpec c = ThreeTiers();
  a.name = "a";
  b.name = "b";
  c.name = "c";
  const InterconnectSpec spec = {
      {a, b, c}, {{0, 1, Cable(3), Cable(4)}, {2, 1, Cable(5), Cable(6)}}, 0};
  ASSERT_TRUE(FindErrors(spec).empty());
  const Interconnect net(spec, {{0, 4, {1}}, {1, 2, {1}}, {2, 7, {1}}});
  EXPECT_EQ(net.FindUnreachable(), "");
  const std::vector<int> path = net.Path({0, 0}, {5, 0}, 0);
  ASSERT_EQ(path.size(), 3u);  // leaf, spine, gateway, b
  EXPECT_EQ(Names(net, path)[2], "a/gateway -> b");
  EXPECT_EQ(net.link(path[2]).link.bandwidth, Bandwidth(3e9));
  EXPECT_EQ(net.link(net.Path({5, 0}, {0, 0}, 0)[0]).link.bandwidth, Bandwidth(4e9));
  EXPECT_EQ(net.Path({0, 0}, {12, 0}, 0).size(), 7u);  // 2 + 2 joins + 3
  ExpectChains(net, 13, 1);
}

TEST(InterconnectTest, FabricsWithoutAJoinAreNamed) {
  FabricSpec other;
  other.name = "ethernet";
  const Interconnect net({{Tree(), other}, {}, 0}, {{0, 1, {1}}, {1, 1, {1}}});
  EXPECT_EQ(net.FindUnreachable(),
            "no joins lead from ib to ethernet, want a way between any two nodes");
}

TEST(InterconnectTest, TheHashSpreadsFlowsAndDependsOnTheSeed) {
  FabricSpec wide = ThreeTiers();
  wide.tiers[0].uplinks = 16;
  InterconnectSpec spec = Only(wide);
  const Interconnect net(spec, {{0, 8, {1}}});
  spec.ecmp_seed = 1;
  const Interconnect other(spec, {{0, 8, {1}}});
  std::map<int, int> used;
  int same = 0;
  constexpr int kFlows = 16'000;
  for (int flow = 0; flow < kFlows; ++flow) {
    const std::vector<int> path = net.Path({0, 0}, {7, 0}, flow);
    EXPECT_EQ(path, net.Path({0, 0}, {7, 0}, flow));
    same += path == other.Path({0, 0}, {7, 0}, flow) ? 1 : 0;
    ++used[path[1]];
  }
  EXPECT_EQ(used.size(), 32u);  // 16 spines x 2 cores each
  for (const auto& [link, count] : used) EXPECT_NEAR(count, kFlows / 32, 120) << link;
  EXPECT_NEAR(same, kFlows / 32, 120);
}

// 4 nodes of 8 devices, two a leaf; a leaf passes 2 x 10 GB/s.
TEST(UplinkSharesTest, AGroupHasItsPartOfTheUplinksItCrosses) {
  const Interconnect net(Only(Tree()), {{0, 4, {8}}});
  const auto share = [&](std::vector<Interconnect::PortRanks> group, int per_domain,
                         Traffic traffic) {
    return net.GroupShare(group, per_domain, traffic).bytes_per_s() * 1e-9;
  };
  // Below one leaf nothing is crossed.
  EXPECT_TRUE(std::isinf(share({{{0, 0}, 8}, {{1, 0}, 8}}, 8, Traffic::kRing)));
  // All devices in one ring: each leaf passes it once, at full width.
  const std::vector<Interconnect::PortRanks> all = {
      {{0, 0}, 8}, {{1, 0}, 8}, {{2, 0}, 8}, {{3, 0}, 8}};
  EXPECT_DOUBLE_EQ(share(all, 8, Traffic::kRing), 20);
  // Everyone with everyone: two nodes send 2/3 each to the other leaf's two.
  EXPECT_DOUBLE_EQ(share(all, 8, Traffic::kAllToAll), 15);
  // One node of each leaf: half of the devices below, half of the width.
  EXPECT_DOUBLE_EQ(share({{{0, 0}, 8}, {{2, 0}, 8}}, 8, Traffic::kRing), 10);
  // One rank of every node: an eighth.
  EXPECT_DOUBLE_EQ(share({{{0, 0}, 1}, {{1, 0}, 1}, {{2, 0}, 1}, {{3, 0}, 1}}, 1, Traffic::kRing),
                   2.5);
}

TEST(UplinkSharesTest, PodsAndJoinsNarrowToo) {
  FabricSpec spec = ThreeTiers();
  const Interconnect net(Only(spec), {{0, 8, {8}}});
  // A pod passes 2 spines x 2 cores x 5 GB/s; one of its four nodes has a quarter,
  // half of its leaf's 20.
  const std::vector<Interconnect::PortRanks> pair = {{{0, 0}, 8}, {{4, 0}, 8}};
  EXPECT_DOUBLE_EQ(net.GroupShare(pair, 8, Traffic::kRing).bytes_per_s(), 5e9);
  EXPECT_DOUBLE_EQ(net.MessageShare({0, 0}, {4, 0}, 1).bytes_per_s(), 5e9);
  EXPECT_DOUBLE_EQ(net.MessageShare({0, 0}, {4, 0}, 2).bytes_per_s(), 2.5e9);
  EXPECT_DOUBLE_EQ(net.MessageShare({0, 0}, {2, 0}, 1).bytes_per_s(), 10e9);
  EXPECT_TRUE(std::isinf(net.MessageShare({0, 0}, {1, 0}, 8).bytes_per_s()));
  FabricSpec other;
  const Interconnect halls({{Tree(), other}, {{0, 1, Cable(3), Cable(2)}}, 0},
                           {{0, 4, {8}}, {1, 4, {8}}});
  EXPECT_DOUBLE_EQ(halls.GroupShare(pair, 8, Traffic::kRing).bytes_per_s(), 0.5e9);
}

// Rails keep to themselves: a ring over whole nodes has every rail's uplinks.
TEST(UplinkSharesTest, RailsShareTheirOwnLeaves) {
  FabricSpec spec = Tree();
  spec.kind = FabricKind::kRailOptimised;
  const Interconnect net(Only(spec), {{0, 4, {1, 1}}});
  std::vector<Interconnect::PortRanks> all, rail;
  for (int node = 0; node < 4; ++node) {
    all.push_back({{node, 0}, 1});
    all.push_back({{node, 1}, 1});
    rail.push_back({{node, 0}, 1});
  }
  EXPECT_DOUBLE_EQ(net.GroupShare(all, 2, Traffic::kRing).bytes_per_s(), 40e9);
  EXPECT_DOUBLE_EQ(net.GroupShare(rail, 1, Traffic::kRing).bytes_per_s(), 20e9);
}

TEST(InterconnectSpecTest, ErrorsAreSentences) {
  InterconnectSpec spec = Only(Tree());
  spec.fabrics[0].nodes_per_leaf = 0;
  EXPECT_EQ(FindErrors(spec)[0], "fabrics[0].nodes_per_leaf: got 0, want at least 1");
  spec = Only(ThreeTiers());
  spec.fabrics[0].nodes_per_pod = 3;
  EXPECT_EQ(FindErrors(spec)[0],
            "fabrics[0].nodes_per_pod: got 3, want a multiple of the 2 nodes of a leaf");
  spec = {{Tree(), Tree()}, {{0, 0, Cable(1), Cable(1)}}, 0};
  EXPECT_EQ(FindErrors(spec).size(), 2u);
}

}  // namespace
}  // namespace stagecraft
