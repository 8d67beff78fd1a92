#include "tools/flags/slow_flag.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/link.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/cluster/node_type.h"
#include "tools/flags/planned_job.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

PlannedJob Apply(const std::vector<std::string>& parts, const Cluster& cluster) {
  Flags words("test", "Makes parts of a cluster slow.");
  SlowFlag flag;
  flag.Register(words);
  std::vector<std::string> args;
  for (const std::string& part : parts) args.insert(args.end(), {"--slow", part});
  std::ostringstream out;
  words.Parse(args, out);
  PlannedJob job{{}, cluster, {}, "", {}, {}, {}};
  flag.Apply(job);
  return job;
}

TEST(SlowFlagTest, DevicesNodesAndLinksHaveTheirShareOfTheirSpeed) {
  const Cluster whole = ParseCluster("h100-sxm:4x8");
  const PlannedJob job = Apply({"node3/gpu1=0.8,node1=0.5", "node0/nic3 -> fabric=0.25"}, whole);
  const SlowParts& slow = job.cluster.slow_parts();
  ASSERT_EQ(slow.devices.size(), 9);
  for (int device = 8; device < 16; ++device) EXPECT_EQ(job.cluster.speed(device), 0.5);
  EXPECT_EQ(job.cluster.speed(25), 0.8);
  ASSERT_EQ(slow.links.size(), 1);
  EXPECT_EQ(job.cluster.LinkName(slow.links[0].first), "node0/nic3 -> fabric");
  EXPECT_EQ(slow.links[0].second, 0.25);
  ASSERT_EQ(job.slow.size(), 3);
  EXPECT_EQ(job.slow[0].name, "node3/gpu1");
}

TEST(SlowFlagTest, ADeviceHasTheProductOfItsSpeedAndThatOfItsNode) {
  const PlannedJob job = Apply({"node0=0.5", "node0/gpu2=0.5"}, ParseCluster("h100-sxm:1x8"));
  EXPECT_EQ(job.cluster.speed(1), 0.5);
  EXPECT_EQ(job.cluster.speed(2), 0.25);
}

TEST(SlowFlagTest, FullSpeedAndNoFlagChangeNothing) {
  const Cluster whole = ParseCluster("h100-sxm:1x8");
  EXPECT_TRUE(Apply({"node0=1", "node0/gpu2=1.0"}, whole).cluster.slow_parts().empty());
  EXPECT_TRUE(Apply({}, whole).cluster.slow_parts().empty());
}

TEST(SlowFlagTest, ParallelLinksOfOneNameAreSlowTogether) {
  const NodeType type = UseDevices(ParseCluster("dgx-h100:1").node(0), 1);
  const Link cable = {LinkKind::kNetwork, 1_us, Bandwidth(10e9)};
  const Cluster cluster("c", {{type, 2}},
                        {{"node0/gpu0", "a=b", cable},
                         {"node0/gpu0", "a=b", cable},
                         {"a=b", "node0/gpu0", cable},
                         {"node1/gpu0", "a=b", cable},
                         {"a=b", "node1/gpu0", cable}});
  const PlannedJob job = Apply({"node0/gpu0 -> a=b=0.5"}, cluster);
  EXPECT_EQ(job.cluster.slow_parts(), (SlowParts{{}, {{0, 0.5}, {1, 0.5}}}));
}

TEST(SlowFlagTest, MistakesAreNamed) {
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  const auto error_of = [&](const std::vector<std::string>& parts) {
    return ErrorOf([&] { Apply(parts, cluster); });
  };
  const std::string parts =
      ", which the cluster lacks, want a device from node0/gpu0 to node1/gpu7, a node from node0 "
      "to node1, or a link of the form \"node0/gpu0 -> node0/nvswitch\"";
  for (const char* name : {"node2", "node1/gpu8", "node1/gpu01", "node01", "gpu0", "1",
                           "node0/nic0 -> node1/nic0", "rack0", ""}) {
    EXPECT_EQ(error_of({name + std::string("=0.5")}),
              "--slow: got \"" + std::string(name) + "\"" + parts);
  }
  for (const char* rate : {"0", "1.5", "-0.5", "nan", "inf", "", "half", "0.5x"}) {
    EXPECT_EQ(error_of({std::string("node0=") + rate}),
              "--slow: got \"node0=" + std::string(rate) +
                  "\", want a speed above 0, at most 1: the share that is left");
  }
  EXPECT_EQ(error_of({"node0"}),
            "--slow: got \"node0\", want PART=SPEED, such as \"node0/gpu1=0.8\"");
  EXPECT_EQ(error_of({"node0/gpu1=0.8,node1=0.5", "node0/gpu1=0.9"}),
            "--slow: got \"node0/gpu1\" twice, want every part once");
}

}  // namespace
}  // namespace stagecraft
