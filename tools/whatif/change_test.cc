#include "tools/whatif/change.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

// The flags of a point, as far as these tests name them.
class PointFlags {
 public:
  explicit PointFlags(bool has_slow = true) : flags_("simulate", "Simulates a step.") {
    FlagGroup group = flags_.In(FlagTopic::kParallelism);
    for (const char* name : {"--tp", "--global-batch", "--schedule", "--network", "--price",
                             "--cluster", "--scale", "--tokens"}) {
      group.Add(name, text_, {"<x>", "Text."});
    }
    if (has_slow) group.Add("--slow", text_, {"<x>", "Text."});
    group.Add("--overlap-p2p,!--no-overlap-p2p", is_on_, {"", "Switch."});
    group.Add("--compiled", is_on_, {"", "Switch."});
  }
  std::vector<Flag> All() const { return flags_.All(); }

 private:
  std::string text_;
  bool is_on_ = false;
  Flags flags_;
};

using Values = std::map<std::string, std::string>;

Values Changed(const Values& base, const std::string& text) {
  const PointFlags flags;
  return Apply(ReadChange(text, flags.All()), {base}).flags;
}

std::string ErrorWith(const Values& base, const std::string& text) {
  return ErrorOf([&] { Changed(base, text); });
}

TEST(ChangeTest, AFlagHasAnotherValue) {
  EXPECT_EQ(Changed({{"tp", "2"}}, "tp=4"), (Values{{"tp", "4"}}));
  EXPECT_EQ(Changed({}, "--tp=4"), (Values{{"tp", "4"}}));
  EXPECT_EQ(Changed({}, "schedule=zb-v"), (Values{{"schedule", "zb-v"}}));
  EXPECT_EQ(Changed({}, "network=flow"), (Values{{"network", "flow"}}));
  EXPECT_EQ(Changed({}, "compiled"), (Values{{"compiled", "true"}}));
  EXPECT_EQ(Changed({}, "no-overlap-p2p"), (Values{{"overlap-p2p", "false"}}));
  EXPECT_EQ(Changed({}, "cluster=h100-sxm:8x8@nic=200"),
            (Values{{"cluster", "h100-sxm:8x8@nic=200"}}));
}

TEST(ChangeTest, AMultipleIsOfTheNumberThatIsGiven) {
  EXPECT_EQ(Changed({{"global-batch", "64"}}, "global-batch=2x"),
            (Values{{"global-batch", "128"}}));
  EXPECT_EQ(Changed({{"global-batch", "64"}}, "global-batch=0.5x"),
            (Values{{"global-batch", "32"}}));
  EXPECT_EQ(ErrorWith({}, "tp=2x"), "--change tp=2x: want --tp with a number to multiply");
  EXPECT_EQ(ErrorWith({{"schedule", "1f1b"}}, "schedule=2x"),
            "--change schedule=2x: want --schedule with a number to multiply");
}

TEST(ChangeTest, SeveralEditsMakeOneChange) {
  EXPECT_EQ(Changed({}, "tp=4; compiled;network=0.5x"),
            (Values{{"tp", "4"}, {"compiled", "true"}, {"scale", "network=0.5"}}));
  EXPECT_EQ(ErrorWith({}, "tp=4;tp=8"), "--change tp=4;tp=8: tp is changed twice, want it once");
}

TEST(ChangeTest, BandwidthsAndMemoryScale) {
  EXPECT_EQ(Changed({}, "network=0.5x"), (Values{{"scale", "network=0.5"}}));
  EXPECT_EQ(Changed({}, "link=2x"), (Values{{"scale", "links=2"}}));
  EXPECT_EQ(Changed({{"scale", "network=0.5,memory=2"}}, "network=0.5x"),
            (Values{{"scale", "network=0.25,memory=2"}}));
  EXPECT_EQ(Changed({{"scale", "network=0.5"}}, "network=2x"), Values());
  EXPECT_EQ(ErrorWith({}, "memory=2"),
            "--change memory=2: want memory as a multiple of 0.001 to 1000, such as memory=0.5x");
  EXPECT_EQ(
      ErrorWith({}, "network=0x"),
      "--change network=0x: want network as a multiple of 0.001 to 1000, such as network=0.5x");
  EXPECT_EQ(ErrorWith({{"scale", "links=100"}}, "links=100x"),
            "--change links=100x: links times 10000 in all, want 0.001 to 1000");
}

TEST(ChangeTest, PartsBecomeSlow) {
  EXPECT_EQ(Changed({}, "node3=0.8x"), (Values{{"slow", "node3=0.8"}}));
  EXPECT_EQ(Changed({}, "node3/gpu1=0.5"), (Values{{"slow", "node3/gpu1=0.5"}}));
  EXPECT_EQ(Changed({{"slow", "node3=0.5,node1=0.9"}}, "node3=0.5x"),
            (Values{{"slow", "node1=0.9,node3=0.25"}}));
  EXPECT_EQ(Changed({}, "node0/nic3 -> fabric=0.5x"),
            (Values{{"slow", "node0/nic3 -> fabric=0.5"}}));
  const std::string want =
      ": want a speed above 0x, at most 1x: the share that is left, such as 0.8x";
  for (const std::string text : {"node3=1.2x", "node3=0x", "node3=slow", "node3"}) {
    EXPECT_EQ(ErrorWith({}, text), "--change " + text + want);
  }
  const PointFlags of_search(false);
  EXPECT_EQ(ErrorOf([&] { ReadChange("node3=0.8x", of_search.All()); }),
            "--change node3=0.8x: a search knows no slow parts, want it without --best");
}

TEST(ChangeTest, NodesAndGpusChangeTheWordsOfTheCluster) {
  const auto cluster = [](const std::string& base, const std::string& text) {
    return Changed({{"cluster", base}}, text).at("cluster");
  };
  EXPECT_EQ(cluster("h100-sxm:8x8", "gpu=h200-sxm"), "h200-sxm:8x8");
  EXPECT_EQ(cluster("dgx-h100:8", "gpu=h200-sxm"), "h200-sxm:8x8");
  EXPECT_EQ(cluster("dgx-h100:8x4@nic=200", "gpu=h200-sxm"), "h200-sxm:8x4@nic=200");
  EXPECT_EQ(cluster("h100-sxm:8x8", "nodes=2x"), "h100-sxm:16x8");
  EXPECT_EQ(cluster("h100-sxm:8x8", "nodes=3"), "h100-sxm:3x8");
  EXPECT_EQ(cluster("dgx-h100:8+a100-sxm4-80gb:4x8", "nodes=0.5x"),
            "dgx-h100:4+a100-sxm4-80gb:2x8");
  const auto error = [](const std::string& base, const std::string& text) {
    return ErrorWith({{"cluster", base}}, text);
  };
  EXPECT_EQ(error("h100-sxm:8x8", "nodes=0.3x"),
            "--change nodes=0.3x: 8 nodes of h100-sxm become 2.4, want a whole number above 0");
  EXPECT_EQ(error("a:8x8+b:8x8", "nodes=4"),
            "--change nodes=4: the cluster has several kinds of nodes, want a multiple such as 2x");
  EXPECT_EQ(error("h100-sxm:8x8", "nodes=few"),
            "--change nodes=few: want a number of nodes above 0, or a multiple such as 2x");
  EXPECT_EQ(error("lab.yaml", "gpu=h200-sxm"),
            "--change gpu=h200-sxm: lab.yaml is a file, whose nodes are not changed, want "
            "cluster=OTHER");
  EXPECT_NE(error("h100-sxm:8x8", "gpu=h20000").find("--change gpu=h20000: "), std::string::npos);
}

TEST(ChangeTest, PricesOfOneTypeOrOfAll) {
  const Values base = {{"price", "h100-sxm=3,a100=2"}};
  EXPECT_EQ(Changed(base, "price=0.5x").at("price"), "h100-sxm=1.5,a100=1");
  EXPECT_EQ(Changed(base, "price=a100=1").at("price"), "h100-sxm=3,a100=1");
  EXPECT_EQ(Changed(base, "price=4").at("price"), "4");
  EXPECT_EQ(Changed({{"price", "4"}}, "price=0.25x").at("price"), "1");
  EXPECT_EQ(Changed({}, "price=4").at("price"), "4");
  EXPECT_EQ(ErrorWith({}, "price=2x"), "--change price=2x: want --price to multiply");
}

TEST(ChangeTest, WhatIsNothingIsNamedWithTheNearestNames) {
  const std::string unknown = ErrorWith({}, "tq=4");
  EXPECT_TRUE(unknown.starts_with(
      "--change tq=4: \"tq\" is neither a flag nor gpu, nodes, network, links, memory or a part of "
      "the cluster; did you mean \"tp\""))
      << unknown;
  EXPECT_EQ(ErrorWith({}, ""), "--change : want NAME=VALUE, such as network=0.5x");
  EXPECT_EQ(ErrorWith({}, "=4"), "--change =4: want NAME=VALUE, such as network=0.5x");
  EXPECT_EQ(ErrorWith({}, "tp"), "--change tp: want tp=VALUE");
  EXPECT_EQ(ErrorWith({}, "tp="), "--change tp=: want tp=VALUE");
  EXPECT_EQ(ErrorWith({}, "gpu="), "--change gpu=: want gpu=VALUE");
  EXPECT_EQ(ErrorWith({}, "no-overlap-p2p=1"),
            "--change no-overlap-p2p=1: want no-overlap-p2p without a value");
}

TEST(ChangeTest, ChangesOfTheSameThingCollide) {
  const PointFlags flags;
  const auto collide = [&](const char* a, const char* b) {
    return Collide(ReadChange(a, flags.All()), ReadChange(b, flags.All()));
  };
  EXPECT_TRUE(collide("tp=4", "tp=8"));
  EXPECT_TRUE(collide("network=2x", "network=0.5x"));
  EXPECT_TRUE(collide("tp=4;compiled", "compiled;price=2"));
  EXPECT_TRUE(collide("cluster=h100:1x8", "nodes=2x"));
  EXPECT_TRUE(collide("gpu=h200-sxm", "cluster=h100:1x8"));
  EXPECT_TRUE(collide("node1=0.5x", "node1=0.8x"));
  EXPECT_TRUE(collide("scale=links=2", "network=0.5x"));
  EXPECT_TRUE(collide("node1=0.5x", "slow=node2=0.8"));
  EXPECT_FALSE(collide("node1=0.5x", "node2=0.8x"));
  EXPECT_FALSE(collide("gpu=h200-sxm", "nodes=2x"));
  EXPECT_FALSE(collide("network=2x", "links=2x"));
  EXPECT_FALSE(collide("network=2x", "network=flow"));
}

}  // namespace
}  // namespace stagecraft
