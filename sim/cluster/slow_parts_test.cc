// Slow devices and links: what groups and messages have left of their bandwidth.
#include "sim/cluster/slow_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_testing.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/cluster/slowest_group.h"
#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

int LinkOf(const Cluster& cluster, const std::string& name) {
  int link = 0;
  while (cluster.LinkName(link) != name) ++link;
  return link;
}

Cluster WithSlowLink(const Cluster& cluster, const std::string& name, double rate) {
  return cluster.WithSlowParts({.links = {{LinkOf(cluster, name), rate}}});
}

// Devices with an NVLink port of 400 GB/s, a PCIe port of 50 and an interface of 40.
Cluster TwoNodes() { return Cluster("c", {{Switched(), 2}}); }

TEST(SlowPartsTest, PartsHaveTheirRatesAndOthersAreAtFullSpeed) {
  const Cluster cluster = TwoNodes().WithSlowParts({{{3, 0.5}, {9, 0.25}}, {{7, 0.1}}});
  EXPECT_EQ(cluster.speed(3), 0.5);
  EXPECT_EQ(cluster.speed(9), 0.25);
  EXPECT_EQ(cluster.speed(4), 1);
  EXPECT_EQ(cluster.link_rate(7), 0.1);
  EXPECT_EQ(cluster.link_rate(8), 1);
  EXPECT_EQ(cluster.link(7), TwoNodes().link(7));
  const Cluster other = cluster.WithSlowParts({.devices = {{4, 0.5}}});
  EXPECT_EQ(other.speed(3), 1);
  EXPECT_EQ(other.link_rate(7), 1);
  EXPECT_EQ(cluster.WithNetwork(NetworkKind::kRoce, "test").slow_parts(), cluster.slow_parts());
}

TEST(SlowPartsTest, AGroupHasWhatItsSlowestPortLeaves) {
  const Cluster cluster = WithSlowLink(TwoNodes(), "node0/gpu2 -> node0/nvswitch", 0.5);
  const Fabric touched = cluster.DescribeGroup(Range(0, 4));
  EXPECT_EQ(touched.intra_rate, 0.5);
  EXPECT_EQ(touched.intra, TwoNodes().DescribeGroup(Range(0, 4)).intra);
  EXPECT_EQ(cluster.DescribeGroup(Range(3, 4)).intra_rate, 1);
  EXPECT_EQ(cluster.DescribeGroup(Range(8, 8)).intra_rate, 1);
  EXPECT_EQ(cluster.DescribePair(2, 3, 1).intra_rate, 0.5);
  EXPECT_EQ(cluster.DescribePair(3, 2, 1).intra_rate, 1);  // the other way
  EXPECT_TRUE(IsSlower(touched, cluster.DescribeGroup(Range(4, 4))));
}

TEST(SlowPartsTest, ARailIsAsSlowAsItsInterface) {
  const Cluster cluster = WithSlowLink(TwoNodes(), "node0/nic3 -> fabric", 0.25);
  EXPECT_EQ(cluster.DescribeGroup(std::vector{3, 11}).inter_rate, 0.25);
  EXPECT_EQ(cluster.DescribeGroup(std::vector{2, 10}).inter_rate, 1);
  // Each channel leaves the node from another rank with an equal share of the bytes.
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 16)).inter_rate, 0.25);
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 16), Traffic::kAllToAll).inter_rate, 0.25);
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 16)).intra_rate, 1);
  EXPECT_EQ(cluster.DescribePair(3, 11, 8).inter_rate, 0.25);
  EXPECT_EQ(cluster.DescribePair(11, 3, 8).inter_rate, 1);
  EXPECT_NE(cluster.PairClass(3, 11), cluster.PairClass(2, 10));
}

// A link may be wider than what it carries.
TEST(SlowPartsTest, SpareBandwidthIsLostFirst) {
  const auto rate = [](double of_port) {
    const Cluster cluster = WithSlowLink(TwoNodes(), "node0/gpu3 -> node0/nic3", of_port);
    EXPECT_EQ(cluster.DescribeGroup(std::vector{3, 11}).inter_rate,
              cluster.DescribePair(3, 11, 1).inter_rate);
    return cluster.DescribePair(3, 11, 1).inter_rate;
  };
  EXPECT_EQ(rate(0.8), 1);  // 40 of 50 GB/s
  EXPECT_DOUBLE_EQ(rate(0.4), 0.5);
}

// Two devices share each interface of 40 GB/s; half of it is 20 for one alone, and 10 for each of
// two.
TEST(SlowPartsTest, DevicesShareWhatASlowInterfaceLeaves) {
  NodeType type = Switched();
  type.nics = 4;
  const Cluster cluster = WithSlowLink(Cluster("c", {{type, 2}}), "node0/nic1 -> fabric", 0.5);
  const auto left = [&](const Fabric& fabric) {
    return fabric.inter_rate * GigabytesPerSecond(fabric.inter);
  };
  EXPECT_EQ(left(cluster.DescribePair(2, 10, 1)), 20);
  EXPECT_EQ(left(cluster.DescribePair(2, 10, 8)), 10);
  EXPECT_EQ(left(cluster.DescribeGroup(std::vector{2, 10})), 10);
  EXPECT_EQ(left(cluster.DescribeGroup(std::vector{4, 12})), 20);
  MessageFabrics messages(cluster);
  const std::vector<MessageEnds> both = {{2, 10}, {4, 12}};
  EXPECT_EQ(messages.Describe(both)[0].inter_rate, 0.5);
  EXPECT_EQ(messages.Describe(both)[1].inter_rate, 1);
}

// Every device has three links to the others; rings use all of them alike.
TEST(SlowPartsTest, RingsOverDirectLinksGoAtThePaceOfTheSlowestLink) {
  NodeType type = Pairs();
  type.wiring = Wiring::kAllPairs;
  const Cluster cluster = WithSlowLink(Cluster("c", {{type, 1}}), "node0/gpu0 -> node0/gpu3", 0.5);
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 4)).intra_rate, 0.5);
  EXPECT_EQ(cluster.DescribeGroup(Range(0, 3)).intra_rate, 1);
  EXPECT_EQ(cluster.DescribePair(0, 3, 1).intra_rate, 0.5);
}

TEST(SlowPartsTest, OnlyPairsThatAreRoutedOverASlowUplinkMeetIt) {
  const Cluster cluster = ReadYamlCluster(
      "node_groups: [{node_type: dgx-h100, count: 4}]\n"
      "fabrics: [{name: ib, kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{oversubscription: 1}]}]\n");
  const std::string uplink = "ib/leaf0 -> ib/spine3";
  const Cluster slowed = WithSlowLink(cluster, uplink, 0.5);
  EXPECT_EQ(cluster.Senders(LinkOf(cluster, uplink)), 1);  // 16 devices, 16 uplinks
  int met = 0;
  for (int from = 0; from < 16; ++from) {
    const Route route = slowed.FindRoute(from, from + 16);
    bool is_met = false;
    for (const int link : route.links) is_met = is_met || slowed.LinkName(link) == uplink;
    EXPECT_EQ(slowed.DescribePair(from, from + 16, 8).inter_rate, is_met ? 0.5 : 1);
    EXPECT_EQ(slowed.DescribeGroup(std::vector{from, from + 16}).inter_rate, is_met ? 0.5 : 1);
    met += is_met ? 1 : 0;
  }
  EXPECT_GT(met, 0);
  EXPECT_LT(met, 8);
  EXPECT_EQ(slowed.DescribeGroup(Range(0, 16)).inter_rate, 1);  // below one leaf
}

TEST(SlowPartsTest, ExplicitLinksAreSharedByTheMessagesAtHand) {
  const Link wide = MakeLink(LinkKind::kNetwork, 1_us, 10);
  std::vector<Cluster::ExplicitLink> links;
  for (const char* device : {"node0/gpu0", "node0/gpu1", "node1/gpu0", "node1/gpu1"}) {
    const std::string leaf = std::string(device).substr(0, 5) + "/nic";
    links.push_back({device, leaf, wide});
    links.push_back({leaf, device, wide});
  }
  links.push_back({"node0/nic", "node1/nic", wide});
  links.push_back({"node1/nic", "node0/nic", wide});
  NodeType type = UseDevices(Pairs(), 2);
  const Cluster cluster =
      WithSlowLink(Cluster("c", {{type, 2}}, links), "node0/nic -> node1/nic", 0.5);
  const auto left = [&](const Fabric& fabric) {
    return fabric.inter_rate * GigabytesPerSecond(fabric.inter);
  };
  MessageFabrics messages(cluster);
  EXPECT_EQ(left(messages.Describe(std::vector<MessageEnds>{{0, 2}})[0]), 5);
  EXPECT_EQ(left(messages.Describe(std::vector<MessageEnds>{{0, 2}, {1, 3}})[0]), 2.5);
  EXPECT_EQ(left(messages.Describe(std::vector<MessageEnds>{{2, 0}})[0]), 10);
  EXPECT_EQ(left(cluster.DescribeGroup(std::vector{0, 2})), 2.5);  // as if both devices sent
}

TEST(SlowPartsTest, WhoNeedsALinkThatIsDownIsToldWhich) {
  const Cluster cluster = WithSlowLink(TwoNodes(), "fabric -> node1/nic0", 0);
  EXPECT_EQ(cluster.DescribePair(1, 9, 1).inter_rate, 1);
  EXPECT_EQ(cluster.DescribeGroup(Range(8, 8)).intra_rate, 1);
  try {
    cluster.DescribeGroup(std::vector{0, 8});
    ADD_FAILURE() << "nothing stopped";
  } catch (const LinkDownError& error) {
    EXPECT_STREQ(error.what(),
                 "stopped: messages wait for the link fabric -> node1/nic0, whose rate stays 0");
  }
}

}  // namespace
}  // namespace stagecraft
