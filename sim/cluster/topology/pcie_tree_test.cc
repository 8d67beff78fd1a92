#include "sim/cluster/topology/pcie_tree.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stagecraft {
namespace {

// root0: switches 0 1, root1: switches 2 3; two devices below each.
PcieTree Server() {
  PcieTree tree;
  tree.roots = 2;
  tree.switch_root = SpreadEvenly(4, 2);
  tree.device_switch = SpreadEvenly(8, 4);
  tree.nic_switch = SpreadEvenly(4, 4);
  tree.uplinks.assign(4, {LinkKind::kPcie, Duration(), Bandwidth(24e9)});
  tree.root_link = {LinkKind::kHost, Duration(), Bandwidth(16e9)};
  return tree;
}

double Ring(std::vector<int> devices, const PcieTree& tree = Server()) {
  return RingShare(tree, devices).bytes_per_s() * 1e-9;
}

TEST(PcieTreeTest, ThingsSpreadEvenlyAndInOrder) {
  EXPECT_EQ(SpreadEvenly(4, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(SpreadEvenly(2, 4), (std::vector<int>{0, 2}));
}

TEST(PcieTreeTest, RingsShareWhatTheyCross) {
  EXPECT_TRUE(std::isinf(Ring({0, 1})));  // below one switch
  EXPECT_EQ(Ring({0, 2}), 12);            // each of two devices has half of the uplink
  EXPECT_EQ(Ring({0, 1, 2, 3}), 24);
  EXPECT_EQ(Ring({0, 4}), 4);  // one of the root's four
  EXPECT_EQ(Ring({0, 1, 2, 3, 4, 5, 6, 7}), 16);
}

TEST(PcieTreeTest, ANarrowUplinkIsThatOfItsSwitchAlone) {
  PcieTree tree = Server();
  tree.uplinks[0].bandwidth = Bandwidth(6e9);
  EXPECT_EQ(Ring({0, 2}, tree), 3);                       // one of the two below switch 0
  EXPECT_EQ(Ring({4, 6}, tree), 12);                      // switches 2 and 3
  const std::vector<int> far = {1, 1, 0, 0, 3, 3, 2, 2};  // over both switches of its root
  const std::vector<int> nic_switch = {0, 1, 2, 3};
  const double share = LeavingShare(tree, far, nic_switch, Bandwidth(24e9)).bytes_per_s() * 1e-9;
  EXPECT_DOUBLE_EQ(share, 4 * 3 + 4 * 12);
}

TEST(PcieTreeTest, DevicesTakeTheNearestInterface) {
  PcieTree tree = Server();
  EXPECT_EQ(NearestInterfaces(tree, tree.nic_switch), SpreadEvenly(8, 4));
  const std::vector<int> far = {3, 1};
  EXPECT_EQ(NearestInterfaces(tree, far), (std::vector<int>{1, 1, 1, 1, 0, 0, 0, 0}));
  const std::vector<int> twins = {0, 0};  // loads are evened
  EXPECT_EQ(NearestInterfaces(tree, twins), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
}

// One interface below switch 0: the uplink down to it is shared by six devices.
TEST(PcieTreeTest, WhatLeavesIsLimitedByTheTree) {
  const PcieTree tree = Server();
  const std::vector<int> nic_switch = {0};
  const std::vector<int> all_to_it(8, 0);
  const double share =
      LeavingShare(tree, all_to_it, nic_switch, Bandwidth(12e9)).bytes_per_s() * 1e-9;
  EXPECT_DOUBLE_EQ(share, 2 * 12 + 6 * 4);
}

TEST(PcieTreeTest, ErrorsAreSentences) {
  PcieTree tree = Server();
  EXPECT_TRUE(FindErrors(tree, 8, 4).empty());
  EXPECT_EQ(FindErrors(tree, 7, 4)[0], "device_switch: got 8, want 7 entries, one for each");
  tree.nic_switch[1] = 4;
  EXPECT_EQ(FindErrors(tree, 8, 4)[0], "nic_switch: got 4, want from 0 to 3");
  tree.nic_switch[1] = 3;
  tree.uplinks[2] = Link();
  EXPECT_EQ(FindErrors(tree, 8, 4)[0], "uplinks[2]: got no bandwidth, want > 0");
  tree.uplinks.pop_back();
  EXPECT_EQ(FindErrors(tree, 8, 4)[0], "uplinks: got 3, want 4 entries, one for each");
  tree.roots = 5;
  EXPECT_EQ(FindErrors(tree, 8, 4)[0], "roots: got 5, want from 1 to the number of switches");
}

}  // namespace
}  // namespace stagecraft
