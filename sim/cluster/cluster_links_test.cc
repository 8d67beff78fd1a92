// Clusters wired link by link, and clusters that cannot be built.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/link_graph.h"
#include "sim/cluster/test_nodes.h"
#include "sim/cluster/topology/pcie_tree.h"

namespace stagecraft {
namespace {

std::string ErrorOf(std::vector<Cluster::NodeGroup> groups,
                    std::vector<Cluster::ExplicitLink> links = {}) {
  try {
    Cluster("c", std::move(groups), std::move(links));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// Two nodes of one device with a switch between them: 10 GB/s up, 5 GB/s down.
std::vector<Cluster::ExplicitLink> Star() {
  const Link up = MakeLink(LinkKind::kNetwork, 1_us, 10);
  const Link down = MakeLink(LinkKind::kNetwork, 2_us, 5);
  return {{"node0/gpu0", "leaf", up},
          {"leaf", "node0/gpu0", down},
          {"node1/gpu0", "leaf", up},
          {"leaf", "node1/gpu0", down}};
}

NodeType Single() { return UseDevices(Pairs(), 1); }

TEST(ClusterLinksTest, ExplicitLinksAnswerFromTheGraph) {
  const Cluster cluster("c", {{Single(), 2}}, Star());
  const Route route = cluster.FindRoute(0, 1);
  EXPECT_EQ(route.links, (std::vector<int>{0, 3}));
  EXPECT_EQ(route.narrowest, MakeLink(LinkKind::kNetwork, 3_us, 5));
  EXPECT_TRUE(route.crosses_domains);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribeGroup(Range(0, 2)).inter), 5);
  EXPECT_EQ(GigabytesPerSecond(cluster.DescribePair(0, 1, 2).inter), 2.5);
}

TEST(ClusterLinksTest, GeneratedLinksGivenExplicitlyDescribeTheSameGroups) {
  NodeType type = Switched();
  type.nics = 4;
  const Cluster built("c", {{type, 3}});
  std::vector<Cluster::ExplicitLink> links;
  const LinkGraph& graph = built.link_graph();
  const auto [begin, end] = edges(graph);
  for (auto edge = begin; edge != end; ++edge) {
    links.push_back(
        {graph[source(*edge, graph)].name, graph[target(*edge, graph)].name, graph[*edge]});
  }
  const Cluster given("c", {{type, 3}}, links);
  for (const auto& group : {Range(0, 24), Range(0, 8), Range(1, 3, 8), Range(4, 8, 2)}) {
    EXPECT_EQ(built.DescribeGroup(group), given.DescribeGroup(group));
  }
  EXPECT_EQ(built.DescribePair(0, 17, 8), given.DescribePair(0, 17, 8));
}

TEST(ClusterLinksTest, WiderOfEquallyShortRoutesIsTaken) {
  std::vector<Cluster::ExplicitLink> links = Star();
  const Link wide = MakeLink(LinkKind::kNetwork, 1_us, 20);
  links.push_back({"node0/gpu0", "other", wide});
  links.push_back({"other", "node1/gpu0", wide});
  const Cluster cluster("c", {{Single(), 2}}, links);
  EXPECT_EQ(cluster.FindRoute(0, 1).links, (std::vector<int>{4, 5}));
}

TEST(ClusterLinksTest, BadInputIsOneSentence) {
  NodeType no_nics = Switched();
  no_nics.nics = 0;
  NodeType no_fallback = CubeMeshNode();
  no_fallback.fallback = {};
  NodeType odd = CubeMeshNode();
  odd.devices = 9;
  std::vector<Cluster::ExplicitLink> one_way = Star();
  one_way.pop_back();
  std::vector<Cluster::ExplicitLink> typo = Star();
  typo[0].from = "node2/gpu0";
  std::vector<Cluster::ExplicitLink> loop = Star();
  loop[0].to = loop[0].from;
  std::vector<Cluster::ExplicitLink> dead = Star();
  dead[2].link.bandwidth = Bandwidth(0);
  EXPECT_EQ(ErrorOf({}), "c: node_groups: got none, want at least one node");
  EXPECT_EQ(ErrorOf({{Switched(), 0}}), "c: node_groups[0].count: got 0, want from 1 to 2000000");
  EXPECT_EQ(ErrorOf({{Switched(), 250001}}),
            "c: node_groups[0].count: got 2000008 devices in all, want 2000000 at most");
  EXPECT_EQ(ErrorOf({{no_nics, 1}}), "no error");
  EXPECT_EQ(ErrorOf({{no_nics, 2}}),
            "c: node_groups[0].type.nics: got 0 for switched, want > 0 in a cluster of 2 nodes");
  EXPECT_EQ(ErrorOf({{no_fallback, 1}}),
            "c: node_groups[0].type.fallback: got no bandwidth, want > 0 if not all devices are "
            "joined");
  EXPECT_EQ(ErrorOf({{odd, 1}}),
            "c: node_groups[0].type.devices: got 9, want from 1 to 8 with wiring cube-mesh");
  EXPECT_EQ(ErrorOf({{Single(), 2}}, one_way),
            "c: links: no links lead from node0/gpu0 to node1/gpu0, want a way between any two "
            "devices");
  EXPECT_EQ(ErrorOf({{Single(), 2}}, typo),
            "c: links[0].from: got \"node2/gpu0\", want a device of the cluster or the name of a "
            "switch");
  EXPECT_EQ(ErrorOf({{Single(), 2}}, loop),
            "c: links[0].to: got the same as from, want another endpoint");
  EXPECT_EQ(ErrorOf({{Single(), 2}}, dead),
            "c: links[2].link.bandwidth_bytes_per_s: got 0 or less, want > 0");
}

// 1024 root complexes, each joined with all others: the links of 4096 such nodes
// do not fit into 32 bits.
TEST(ClusterLinksTest, LinksAreCountedInFull) {
  NodeType many_roots = CubeMeshNode();
  many_roots.wiring = Wiring::kPcie;
  many_roots.devices = 1;
  many_roots.pcie.roots = 1024;
  many_roots.pcie.switch_root = SpreadEvenly(1024, 1024);
  many_roots.pcie.device_switch = {0};
  many_roots.pcie.nic_switch = {0};
  many_roots.pcie.root_link = MakeLink(LinkKind::kPcie, 1_us, 24);
  many_roots.pcie.uplinks.assign(1024, many_roots.pcie.root_link);
  // 1024 x 1023 between roots, 2 x 1024 uplinks, 6 of the GPU and its interface.
  EXPECT_EQ(ErrorOf({{many_roots, 4096}}), "c: node_groups[0].count: got " +
                                               std::to_string(int64_t{4096} * 1049606) +
                                               " links in all, want 268435456 at most");
}

}  // namespace
}  // namespace stagecraft
