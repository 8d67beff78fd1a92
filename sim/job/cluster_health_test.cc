#include "sim/job/cluster_health.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

using What = ClusterEvent::What;
using Rates = std::vector<std::pair<int, double>>;

class ClusterHealthTest : public testing::Test {
 protected:
  void Apply(EventTarget target, What what, double rate = 1) {
    health_.Apply({target, what, rate});
  }
  const std::vector<int>& Down() { return health_.state().down; }

  const Cluster cluster_ = SwitchedNodes(4);
  const Racks racks_{cluster_, 2};
  ClusterHealth health_{cluster_, racks_, {}};
};

TEST_F(ClusterHealthTest, NodesAndRacksTakeTheirDevicesDown) {
  EXPECT_TRUE(health_.state().IsWhole());
  Apply(NodeNumber(1), What::kFail);
  EXPECT_EQ(Down(), Range(8, 8));
  Apply(RackNumber(1), What::kFail);
  EXPECT_EQ(Down(), Range(8, 24));
  EXPECT_EQ(health_.DownNodes(), (std::vector<int>{1, 2, 3}));
  Apply(RackNumber(1), What::kRecover);
  EXPECT_EQ(Down(), Range(8, 8));
}

TEST_F(ClusterHealthTest, APartIsDownUntilAllItsFailuresAreRepaired) {
  Apply(DeviceNumber(3), What::kFail);
  Apply(NodeNumber(0), What::kFail);
  Apply(RackNumber(0), What::kFail);
  Apply(NodeNumber(0), What::kRecover);
  EXPECT_EQ(Down(), Range(0, 16));
  Apply(RackNumber(0), What::kRecover);
  EXPECT_EQ(Down(), (std::vector<int>{3}));
  Apply(DeviceNumber(3), What::kRecover);
  EXPECT_TRUE(health_.state().IsWhole());
}

TEST_F(ClusterHealthTest, RatesOfADeviceAndItsNodeMultiply) {
  Apply(NodeNumber(1), What::kSlow, 0.5);
  Apply(DeviceNumber(8), What::kSlow, 0.5);
  Apply(DeviceNumber(9), What::kFail);
  EXPECT_EQ(health_.state().slow[0], std::pair(8, 0.25));
  EXPECT_EQ(health_.state().slow[1], std::pair(10, 0.5));
  EXPECT_EQ(health_.state().slow.size(), 7u);
  Apply(LinkNumber(5), What::kFail);
  Apply(LinkNumber(2), What::kSlow, 0.1);
  EXPECT_EQ(health_.state().slow_links, (Rates{{2, 0.1}, {5, 0}}));
  Apply(LinkNumber(5), What::kRecover);
  EXPECT_EQ(health_.state().slow_links, (Rates{{2, 0.1}}));
}

TEST_F(ClusterHealthTest, RatesOfANodeAndItsRackMultiply) {
  Apply(RackNumber(1), What::kSlow, 0.5);
  Apply(NodeNumber(3), What::kSlow, 0.5);
  EXPECT_EQ(health_.state().slow.front(), std::pair(16, 0.5));
  EXPECT_EQ(health_.state().slow.back(), std::pair(31, 0.25));
  Apply(RackNumber(1), What::kRecover);
  EXPECT_EQ(health_.state().slow.front(), std::pair(24, 0.5));
  Apply(NodeNumber(3), What::kRecover);
  EXPECT_TRUE(health_.state().IsWhole());
}

TEST_F(ClusterHealthTest, APartHasAWorkingDeviceUntilAllAreDown) {
  EXPECT_TRUE(health_.HasWorkingDevice(RackNumber(0)));
  Apply(NodeNumber(1), What::kFail);
  EXPECT_TRUE(health_.HasWorkingDevice(RackNumber(0)));
  EXPECT_FALSE(health_.HasWorkingDevice(NodeNumber(1)));
  EXPECT_FALSE(health_.HasWorkingDevice(DeviceNumber(8)));
  EXPECT_TRUE(health_.HasWorkingDevice(DeviceNumber(0)));
}

TEST_F(ClusterHealthTest, OnlyDevicesOfThePlanCount) {
  std::vector<char> uses(32);
  uses[1] = 1;
  ClusterHealth health(cluster_, racks_, uses);
  health.Apply({NodeNumber(1), What::kFail});
  EXPECT_TRUE(health.state().IsWhole());
  health.Apply({NodeNumber(0), What::kFail});
  EXPECT_EQ(health.state().down, (std::vector<int>{1}));
}

TEST_F(ClusterHealthTest, ANodeThatWasReplacedReturnsWhenItIsRepaired) {
  Apply(DeviceNumber(1), What::kFail);
  Apply(DeviceNumber(2), What::kFail);
  health_.Replace(0);
  EXPECT_TRUE(health_.state().IsWhole());
  Apply(DeviceNumber(1), What::kFail);  // It belongs to the new node.
  Apply(DeviceNumber(1), What::kRecover);
  Apply(DeviceNumber(2), What::kRecover);
  EXPECT_EQ(health_.TakeReturned(), 1);
  EXPECT_EQ(health_.TakeReturned(), 0);
  EXPECT_EQ(Down(), (std::vector<int>{1}));
  Apply(DeviceNumber(1), What::kRecover);
  EXPECT_TRUE(health_.state().IsWhole());
}

TEST_F(ClusterHealthTest, WhatIsSlowInAStateIsSlowOnTheCluster) {
  Apply(NodeNumber(1), What::kSlow, 0.5);
  Apply(DeviceNumber(9), What::kSlow, 0.5);
  Apply(DeviceNumber(10), What::kFail);
  Apply(LinkNumber(3), What::kSlow, 0.25);
  const Cluster slowed = cluster_.WithSlowParts(SlowPartsOf(health_.state()));
  EXPECT_EQ(slowed.speed(7), 1);
  EXPECT_EQ(slowed.speed(8), 0.5);
  EXPECT_EQ(slowed.speed(9), 0.25);
  EXPECT_EQ(slowed.speed(10), 1);  // it is down: no plan may use it
  EXPECT_EQ(slowed.link_rate(3), 0.25);
}

}  // namespace
}  // namespace stagecraft
