#include "sim/network/channel_patterns.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kMany = 1e9;

// Nodes of equal size, devices counted node by node.
std::vector<std::vector<int>> Nodes(int nodes, int per_node) {
  std::vector<std::vector<int>> by_node(nodes, std::vector<int>(per_node));
  for (int node = 0; node < nodes; ++node) {
    std::iota(by_node[node].begin(), by_node[node].end(), node * per_node);
  }
  return by_node;
}

// Bytes of all messages from one device to another.
std::map<std::pair<int, int>, double> BytesByPair(const ChannelPattern& channels) {
  std::map<std::pair<int, int>, double> bytes;
  for (const MessageSender& sender : channels.pattern.senders()) {
    const MessagePair pair = channels.pattern.pairs()[sender.pair];
    bytes[{channels.devices[pair.from], channels.devices[pair.to]}] +=
        sender.messages * sender.bytes;
  }
  return bytes;
}

// Bytes that leave a node, by node and device.
std::map<std::pair<int, int>, double> Leaving(const ChannelPattern& channels, int per_node) {
  std::map<std::pair<int, int>, double> bytes;
  for (const auto& [pair, sent] : BytesByPair(channels)) {
    const int node = pair.first / per_node;
    if (pair.second / per_node != node) bytes[{node, pair.first}] += sent;
  }
  return bytes;
}

// With two devices, each sends both halves once, in two steps.
TEST(ChannelPatternsTest, ARingOfTwoSendsTheBufferOnce) {
  const auto by_node = Nodes(1, 2);
  const ChannelPattern ring =
      MakeChannels(OpKind::kAllReduce, Algorithm::kRing, Bytes(1000), by_node, kMany);
  EXPECT_EQ(ring.steps, 2);
  EXPECT_EQ(BytesByPair(ring),
            (std::map<std::pair<int, int>, double>{{{0, 1}, 1000}, {{1, 0}, 1000}}));
}

// With two nodes of four there are four channels, and every device's interface carries a quarter of
// 2 (n - 1) / n of the buffer.
TEST(ChannelPatternsTest, EachChannelLeavesANodeAtAnotherDevice) {
  const auto by_node = Nodes(2, 4);
  const ChannelPattern ring =
      MakeChannels(OpKind::kAllReduce, Algorithm::kRing, Bytes(8000), by_node, kMany);
  const auto leaving = Leaving(ring, 4);
  EXPECT_EQ(leaving.size(), 8u);
  for (const auto& [device, bytes] : leaving) EXPECT_DOUBLE_EQ(bytes, 2.0 * 7 / 8 * 8000 / 4);
}

TEST(ChannelPatternsTest, ManyMessagesBecomeOneFlowAPairOfTheSameBytes) {
  const auto by_node = Nodes(3, 2);
  for (const OpKind kind : {OpKind::kAllReduce, OpKind::kAllGather, OpKind::kReduceScatter}) {
    const ChannelPattern step = MakeChannels(kind, Algorithm::kRing, Bytes(6000), by_node, kMany);
    const ChannelPattern whole = MakeChannels(kind, Algorithm::kRing, Bytes(6000), by_node, 10);
    EXPECT_EQ(step.steps, kind == OpKind::kAllReduce ? 10 : 5);
    EXPECT_EQ(whole.steps, 1);
    EXPECT_EQ(whole.pattern.messages(), 2 * 6);
    const auto bytes = BytesByPair(whole);
    for (const auto& [pair, sent] : BytesByPair(step)) EXPECT_NEAR(bytes.at(pair), sent, 1e-6);
  }
}

// Every node is a leaf of one of the two trees, so none sends more than the buffer
// twice; all but one have a parent in each.
TEST(ChannelPatternsTest, ADoubleTreeLoadsNoNodeTwice) {
  for (const int nodes : {2, 3, 4, 5, 8, 13}) {
    const auto by_node = Nodes(nodes, 2);
    const ChannelPattern tree =
        MakeChannels(OpKind::kAllReduce, Algorithm::kTree, Bytes(1000), by_node, kMany);
    std::map<int, double> out;
    double all = 0;
    for (const auto& [place, bytes] : Leaving(tree, 2)) out[place.first] += bytes;
    for (const auto& [node, bytes] : out) {
      EXPECT_LE(bytes, nodes == 2 ? 1000 : 2000) << nodes;
      all += bytes;
    }
    EXPECT_DOUBLE_EQ(all, 2.0 * (nodes - 1) * 1000) << nodes;
  }
}

// The node with fewest devices has as many as there are channels.
TEST(ChannelPatternsTest, UnequalNodesHaveTheChannelsOfTheSmallest) {
  const std::vector<std::vector<int>> by_node = {{0, 1, 2, 3}, {4, 5}};
  const ChannelPattern ring =
      MakeChannels(OpKind::kAllGather, Algorithm::kRing, Bytes(600), by_node, kMany);
  EXPECT_EQ(ring.pattern.senders().size(), 2u * 6u);
  double all = 0;
  for (const auto& [pair, sent] : BytesByPair(ring)) all += sent;
  EXPECT_NEAR(all, 5 * 600, 1e-9);  // each rank sends everything but its own part
}

TEST(ChannelPatternsTest, AnAllToAllGoesToEveryOther) {
  const auto by_node = Nodes(2, 2);
  const ChannelPattern direct =
      MakeChannels(OpKind::kAllToAll, Algorithm::kDirect, Bytes(400), by_node, kMany);
  EXPECT_EQ(BytesByPair(direct).size(), 12u);
  for (const auto& [pair, sent] : BytesByPair(direct)) EXPECT_DOUBLE_EQ(sent, 100);
}

}  // namespace
}  // namespace stagecraft
