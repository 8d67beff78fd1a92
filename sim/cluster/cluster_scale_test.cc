#include "sim/cluster/cluster_scale.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    ParseClusterScale(text, "--scale");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A DGX H100 has NVLink of 450 GB/s, interfaces of 50 GB/s and 80 GiB.
TEST(ClusterScaleTest, NetworkLinksAndMemoryChangeBySelf) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const NodeType& node = cluster.node(0);
  const Cluster narrow = Scaled(cluster, {.network = 0.5}, "--scale");
  EXPECT_EQ(narrow.node(1).nic.bandwidth.bytes_per_s(), 25e9);
  EXPECT_EQ(narrow.node(1).nic.latency, node.nic.latency);
  EXPECT_EQ(narrow.node(1).intra, node.intra);
  EXPECT_EQ(narrow.DescribePair(0, 8, 1).inter.bandwidth.bytes_per_s(),
            0.5 * cluster.DescribePair(0, 8, 1).inter.bandwidth.bytes_per_s());
  const Cluster wide = Scaled(cluster, {.links = 2}, "--scale");
  EXPECT_EQ(wide.node(0).intra.bandwidth.bytes_per_s(), 900e9);
  EXPECT_EQ(wide.node(0).nic, node.nic);
  const Cluster large = Scaled(cluster, {.memory = 1.5}, "--scale");
  EXPECT_EQ(large.device(15).memory.gib(), 120);
  EXPECT_EQ(large.node(0).intra, node.intra);
}

TEST(ClusterScaleTest, AClusterTimesOneIsTheSame) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8+a100-sxm4-80gb:1x8");
  const Cluster same = Scaled(cluster, {}, "--scale");
  EXPECT_EQ(same.name(), cluster.name());
  for (size_t group = 0; group < 2; ++group) {
    EXPECT_EQ(same.groups()[group].type, cluster.groups()[group].type);
  }
}

TEST(ClusterScaleTest, FabricsAndJoinsAreNetwork) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/halls.yaml";
  WriteFileAtomically(
      path,
      "node_groups:\n"
      "- {node_type: dgx-h100, count: 4, fabric: a}\n"
      "- {node_type: dgx-h100, count: 2, fabric: b}\n"
      "fabrics:\n"
      "- {name: a, kind: FAT_TREE, nodes_per_leaf: 2, tiers: [{oversubscription: 2}]}\n"
      "- {name: b, kind: SINGLE_SWITCH}\n"
      "fabric_joins:\n"
      "- {from: a, to: b, link: {kind: NETWORK, bandwidth_bytes_per_s: 4e11, latency_ns: 5000}}\n");
  const Cluster cluster = ParseCluster(path);
  const Cluster narrow = Scaled(cluster, {.network = 0.25}, "--scale");
  for (const auto& [from, to] : {std::pair(0, 8), {0, 16}, {0, 32}}) {
    EXPECT_DOUBLE_EQ(narrow.DescribePair(from, to, 8).inter.bandwidth.bytes_per_s(),
                     0.25 * cluster.DescribePair(from, to, 8).inter.bandwidth.bytes_per_s())
        << from << " " << to;
  }
  EXPECT_EQ(narrow.interconnect().joins[0].there.bandwidth.bytes_per_s(), 1e11);
  EXPECT_EQ(narrow.interconnect().joins[0].there.latency,
            cluster.interconnect().joins[0].there.latency);
}

TEST(ClusterScaleTest, SlowPartsStaySlow) {
  const Cluster slow = ParseCluster("h100-sxm:1x8").WithSlowParts({.devices = {{3, 0.5}}});
  EXPECT_EQ(Scaled(slow, {.links = 0.5}, "--scale").speed(3), 0.5);
}

TEST(ClusterScaleTest, ExplicitLinksAreLeftToTheirFile) {
  const Cluster::ExplicitLink there = {
      "node0/gpu0", "node0/gpu1", {LinkKind::kPcie, Duration(), Bandwidth(1e10)}};
  const Cluster::ExplicitLink back = {"node0/gpu1", "node0/gpu0", there.link};
  const Cluster cluster("wired", {{ParseCluster("h100:1x2").node(0), 1}}, {there, back});
  try {
    Scaled(cluster, {.links = 2}, "--scale");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--scale: the file of the cluster gives every link, want it to say there how wide "
                 "they are");
  }
  EXPECT_EQ(Scaled(cluster, {.memory = 0.5}, "--scale").device(0).memory.gib(), 40);
}

TEST(ClusterScaleTest, TextIsReadOrRefused) {
  EXPECT_EQ(ParseClusterScale("", "--scale"), ClusterScale());
  EXPECT_EQ(ParseClusterScale("memory=2,network=0.5", "--scale"),
            (ClusterScale{.network = 0.5, .memory = 2}));
  const std::string want =
      ", want network, links or memory with a factor of 0.001 to 1000, such as network=0.5";
  for (const std::string text : {"net=1", "network", "network=", "network=0", "network=-1",
                                 "network=1e9", "network=nan", "network=0.5x", "=2"}) {
    EXPECT_EQ(ErrorOf(text), "--scale: got \"" + text + "\"" + want);
  }
  EXPECT_EQ(ErrorOf("links=2,"), "--scale: got \"\"" + want);
  EXPECT_EQ(ErrorOf("links=2,links=3"), "--scale: got links twice, want it once");
}

}  // namespace
}  // namespace stagecraft
