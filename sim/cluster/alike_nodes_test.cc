#include "sim/cluster/alike_nodes.h"

#include <gtest/gtest.h>

#include "sim/cluster/test_nodes.h"

namespace stagecraft {
namespace {

TEST(AlikeNodesTest, NodesBehindOneSwitchAreAlikeWhateverTheirTypes) {
  EXPECT_TRUE(NodesAreAlike(Cluster("one type", {{Switched(), 4}})));
  EXPECT_TRUE(NodesAreAlike(Cluster("two types", {{Switched(), 2}, {Rack(), 4}})));
}

TEST(AlikeNodesTest, SlowPartsTellNodesApart) {
  const Cluster cluster("nodes", {{Switched(), 4}});
  EXPECT_FALSE(NodesAreAlike(cluster.WithSlowParts({.devices = {{0, 0.5}}})));
  EXPECT_FALSE(NodesAreAlike(cluster.WithSlowParts({.links = {{0, 0.5}}})));
  EXPECT_TRUE(NodesAreAlike(cluster.WithSlowParts({.links = {{0, 0.5}}}).WithSlowParts({})));
}

TEST(AlikeNodesTest, DevicesThatShareAMemoryTellNodesApart) {
  const SharedMemory shared{.devices = {0, 1}, .bandwidth = Bandwidth(1e12)};
  EXPECT_FALSE(NodesAreAlike(Cluster("parts", {{Switched(), 2}}, {}, "", {}, {shared})));
}

TEST(AlikeNodesTest, LeavesOfAFabricTellNodesApart) {
  InterconnectSpec leaves;
  leaves.fabrics[0].kind = FabricKind::kFatTree;
  leaves.fabrics[0].nodes_per_leaf = 2;
  const Link up = MakeLink(LinkKind::kNetwork, 1_us, 40);
  leaves.fabrics[0].tiers = {{.uplinks = 2, .up = up, .down = up}};
  EXPECT_FALSE(NodesAreAlike(Cluster("leaves", {{Switched(), 4}}, {}, "", leaves)));
}

TEST(AlikeNodesTest, ExplicitLinksTellNodesApart) {
  NodeType pair = Switched();
  pair.devices = 2;
  pair.nics = 1;
  const Link link = MakeLink(LinkKind::kNvlink, 1_us, 100);
  const Cluster cluster("explicit", {{pair, 1}},
                        {{"node0/gpu0", "node0/gpu1", link}, {"node0/gpu1", "node0/gpu0", link}});
  EXPECT_FALSE(NodesAreAlike(cluster));
}

}  // namespace
}  // namespace stagecraft
