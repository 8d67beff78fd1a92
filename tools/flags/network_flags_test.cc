#include "tools/flags/network_flags.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/node_type.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

// Two nodes with one device each and a switch with an awkward name, to which two parallel cables
// lead from the first node.
Cluster Awkward() {
  const NodeType type = UseDevices(ParseCluster("dgx-h100:1").node(0), 1);
  const Link cable = {LinkKind::kNetwork, 1_us, Bandwidth(10e9)};
  return Cluster("c", {{type, 2}},
                 {{"node0/gpu0", "a@b=c", cable},
                  {"node0/gpu0", "a@b=c", cable},
                  {"a@b=c", "node0/gpu0", cable},
                  {"node1/gpu0", "a@b=c", cable},
                  {"a@b=c", "node1/gpu0", cable}});
}

NetworkOptions Build(const std::vector<std::string>& args, const Cluster& cluster) {
  Flags words("test", "Builds what the flags of a network say.");
  NetworkFlags flags;
  flags.Register(words);
  std::ostringstream out;
  words.Parse(args, out);
  return flags.Build(cluster);
}

std::string ErrorOf(const std::string& change, const Cluster& cluster) {
  try {
    Build({"--network", "flow", "--link-rate", change}, cluster);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NetworkFlagsTest, AChangeIsALinkATimeAndARate) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:2");
  const NetworkOptions options =
      Build({"--network", "flow", "--link-rate", "node0/nic0 -> fabric@250.5=0.25"}, cluster);
  EXPECT_EQ(options.fidelity, NetworkFidelity::kFlow);
  ASSERT_EQ(options.changes.size(), 1u);
  EXPECT_EQ(options.changes[0].time, 250'500_us);
  EXPECT_EQ(options.changes[0].rate, 0.25);
  EXPECT_EQ(cluster.LinkName(options.changes[0].link), "node0/nic0 -> fabric");
}

TEST(NetworkFlagsTest, NamesMayContainTheCharactersThatSeparateTheParts) {
  const NetworkOptions options =
      Build({"--network", "flow", "--link-rate", "a@b=c -> node1/gpu0@3=0"}, Awkward());
  ASSERT_EQ(options.changes.size(), 1u);
  EXPECT_EQ(options.changes[0].link, 4);
  EXPECT_EQ(options.changes[0].time, 3_ms);
}

TEST(NetworkFlagsTest, ParallelLinksOfOneNameChangeTogether) {
  const NetworkOptions options =
      Build({"--network", "flow", "--link-rate", "node0/gpu0 -> a@b=c@3=2"}, Awkward());
  ASSERT_EQ(options.changes.size(), 2u);
  EXPECT_EQ(options.changes[0].link, 0);
  EXPECT_EQ(options.changes[1].link, 1);
}

TEST(NetworkFlagsTest, AMalformedChangeIsRefusedInOneSentence) {
  const Cluster cluster = ParseCluster("aws-p3.16xlarge:2");
  for (const char* change : {"node0/nic0 -> fabric", "@3=1", "node0/nic0 -> fabric=0.5"}) {
    EXPECT_NE(ErrorOf(change, cluster).find("want \"LINK@MILLISECONDS=RATE\""), std::string::npos)
        << change;
  }
  for (const char* change : {"node0/nic0 -> fabric@-1=1", "node0/nic0 -> fabric@1=nan",
                             "node0/nic0 -> fabric@1=", "node0/nic0 -> fabric@1=1e9"}) {
    EXPECT_NE(ErrorOf(change, cluster).find("want numbers of 0 to"), std::string::npos) << change;
  }
  EXPECT_NE(ErrorOf("node0/nic7 -> fabric@1=1", cluster).find("which is no link of the cluster"),
            std::string::npos);
  EXPECT_THROW(Build({"--link-rate", "node0/nic0 -> fabric@1=1"}, cluster), InputError);
}

}  // namespace
}  // namespace stagecraft
