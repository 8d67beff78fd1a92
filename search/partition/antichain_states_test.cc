#include "search/partition/antichain_states.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/shared_csv.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

// Returns a graph whose nodes take 1 ms forward, and have outputs of 10 bytes and weights of 100.
TimedGraph Graph(int nodes, const std::vector<std::pair<int, int>>& edges) {
  std::string text;
  for (int node = 0; node < nodes; ++node) {
    text += "n" + std::to_string(node) +
            " -- Op -- forward_compute_time=1, backward_compute_time=0, activation_size=10, "
            "parameter_size=100\n";
  }
  for (const auto& [from, to] : edges) {
    text += "\tn" + std::to_string(from) + " -- n" + std::to_string(to) + "\n";
  }
  return ToTimedGraph(ParseProfiledGraph(text, "graph.txt"), "graph.txt");
}

TEST(AntichainStatesTest, AChainHasAStateBehindEveryNode) {
  const AntichainStates states = FindAntichainStates(Graph(3, {{0, 1}, {1, 2}}));
  ASSERT_EQ(states.size(), 3);
  EXPECT_EQ(states.states[1].compute, Duration::Seconds(2e-3));
  EXPECT_EQ(states.states[1].output, Bytes(10));
  EXPECT_EQ(states.states[2].parameters, Bytes(300));
  EXPECT_TRUE(states.states[2].earlier.test(0));
}

//     1
//   0   3      behind 1 alone, the output of 0 is still needed by 2
//     2
TEST(AntichainStatesTest, OutputsThatOtherBranchesNeedCrossTheCut) {
  const AntichainStates states = FindAntichainStates(Graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  ASSERT_EQ(states.size(), 5);
  EXPECT_EQ(states.states[1].output, Bytes(20));
  // With both branches done, the output of 0 still counts: 1 is not behind 2, nor 2 behind 1.
  EXPECT_EQ(states.states[3].output, Bytes(30));
  EXPECT_FALSE(states.states[2].earlier.test(1));  // neither branch comes before the other
  EXPECT_TRUE(states.states.back().done.all());
}

TEST(AntichainStatesTest, CompressionLeavesOneNodeOfABranch) {
  // A branch of three nodes and one of a single node, then a chain, which is not compressed.
  const TimedGraph graph = Graph(7, {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {3, 5}, {4, 5}, {5, 6}});
  const CompressedGraph compressed = CompressBranches(graph);
  ASSERT_EQ(compressed.graph.nodes.size(), 5u);
  EXPECT_EQ(compressed.groups[1], (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(compressed.graph.nodes[1].parameters, Bytes(300));
  EXPECT_EQ(compressed.graph.nodes[1].activation, Bytes(10));
  EXPECT_EQ(FindAntichainStates(compressed.graph).states.back().compute,
            FindAntichainStates(graph).states.back().compute);
}

TEST(AntichainStatesTest, ProfiledNetworksHaveThePublishedCounts) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::vector<std::pair<std::string, int>> counts = {
      {"vgg16", 40}, {"alexnet", 22}, {"resnet50", 240}, {"gnmt", 99}, {"gnmt_large", 1495}};
  for (const auto& [network, count] : counts) {
    const std::string path = SharedDataPath("planning/pipedream/graphs/" + network + "/graph.txt");
    EXPECT_EQ(FindAntichainStates(ToTimedGraph(ReadProfiledGraph(path), path)).size(), count)
        << network;
  }
}

TEST(AntichainStatesTest, TooManyStatesAreAnError) {
  const TimedGraph graph = Graph(3, {{0, 1}, {1, 2}});
  EXPECT_THROW(FindAntichainStates(graph, 2), InputError);
  EXPECT_EQ(FindAntichainStates(graph, 3).size(), 3);
}

TEST(AntichainStatesTest, GraphsThatAreNotConnectedAreRefused) {
  EXPECT_THROW(Graph(4, {{0, 1}, {2, 3}}), InputError);
}

}  // namespace
}  // namespace stagecraft
