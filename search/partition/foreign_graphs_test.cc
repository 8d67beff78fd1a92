#include "search/partition/foreign_graphs.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

std::string DnnNode(int id, double ms, int colour, bool is_backward) {
  return R"({"id": )" + std::to_string(id) + R"(, "cpuLatency": 9, "fpgaLatency": )" +
         std::to_string(ms) + R"(, "size": 10, "colorClass": )" + std::to_string(colour) +
         R"(, "isBackwardNode": )" + (is_backward ? "true" : "false") + "}";
}

std::string DnnGraph(const std::string& nodes, const std::string& edges) {
  return R"({"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 100, "nodes": [)" + nodes +
         R"(], "edges": [)" + edges + "]}";
}

std::string Edge(int from, int to, double ms) {
  return R"({"sourceId": )" + std::to_string(from) + R"(, "destId": )" + std::to_string(to) +
         R"(, "cost": )" + std::to_string(ms) + "}";
}

std::string Sentence(const std::string& graph) {
  try {
    ToTimedGraph(ParsePlacementProblem(graph, "g"), Bandwidth(1e9));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// 1 -> 2 -> 3 (backward of 2) -> 4 (backward of 1)
TEST(ForeignGraphsTest, BackwardNodesJoinTheForwardOnesOfTheirColour) {
  const std::string text = DnnGraph(DnnNode(1, 1, 7, false) + "," + DnnNode(2, 2, 8, false) + "," +
                                        DnnNode(3, 3, 8, true) + "," + DnnNode(4, 4, 7, true),
                                    Edge(1, 2, 6) + "," + Edge(2, 3, 0) + "," + Edge(3, 4, 6));
  const TimedGraph graph = ToTimedGraph(ParsePlacementProblem(text, "g"), Bandwidth(1e9));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].name, "1");
  EXPECT_EQ(graph.nodes[0].forward, Duration::Nanoseconds(1'000'000));
  EXPECT_EQ(graph.nodes[0].backward, Duration::Nanoseconds(4'000'000));
  EXPECT_EQ(graph.nodes[0].parameters, Bytes(20));
  // 6 ms at 1 GB/s, for the output and its gradient together.
  EXPECT_EQ(graph.nodes[0].activation, Bytes(3'000'000));
  EXPECT_EQ(graph.nodes[1].activation, Bytes(3'000'000));  // the gradient that leaves
  EXPECT_EQ(graph.dag.consumers[0], std::vector<int>{1});
}

TEST(ForeignGraphsTest, GraphsThatCannotBecomeOperatorsAreRefused) {
  EXPECT_EQ(
      Sentence(DnnGraph(DnnNode(1, 1, 7, false) + "," + DnnNode(2, 2, 8, true), Edge(1, 2, 0))),
      "g: backward node 2 has no forward node of its colorClass, want one");
  EXPECT_EQ(Sentence(DnnGraph(DnnNode(1, 1, 7, false) + "," + DnnNode(2, 2, 8, false) + "," +
                                  DnnNode(3, 2, 7, false),
                              Edge(1, 2, 0) + "," + Edge(2, 3, 0))),
            "g: node 1 is on a cycle, want a graph without");
  // The sum of both must be a number of devices.
  EXPECT_EQ(Sentence(R"({"maxFPGAs": 1, "maxCPUs": 2147483647, "maxSizePerFPGA": 9, "edges": [],
                         "nodes": []})"),
            "g: maxCPUs: got 2147483647, want at most 1000000");
  EXPECT_EQ(Sentence(R"({"maxFPGAs": 1, "maxCPUs": 1, "maxSizePerFPGA": 9, "edges": [], "nodes": [
          {"id": 1, "cpuLatency": 9, "fpgaLatency": 1, "size": 9, "supportedOnFpga": 0}]})"),
            "g: node 1 runs on no accelerator, want a graph whose nodes all do, or --algorithm "
            "dnn-throughput");
}

PiperMode Plain(double seconds, double parameters) {
  PiperMode mode;
  mode.name = "vanilla";
  mode.time_s = seconds;
  mode.parameters_bytes = parameters;
  return mode;
}

// a feeds b and c.
PiperProblem PiperFork() {
  PiperProblem problem;
  problem.name = "p";
  problem.nodes = {
      {"a", {{1, {Plain(2, 30)}}}}, {"b", {{1, {Plain(1, 0)}}}}, {"c", {{1, {Plain(1, 0)}}}}};
  problem.edge_bytes = {{{0, 1}, 50}, {{0, 2}, 70}};
  return problem;
}

TEST(ForeignGraphsTest, PiperOperatorsRunOnOneDevice) {
  const TimedGraph graph = ToTimedGraph(PiperFork());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].compute(), Duration::Seconds(2));
  EXPECT_EQ(graph.nodes[0].parameters, Bytes(30));
  EXPECT_EQ(graph.nodes[0].activation, Bytes(70));  // the most of both edges
  EXPECT_EQ(graph.dag.consumers[0], (std::vector<int>{1, 2}));
}

TEST(ForeignGraphsTest, PiperOperatorsThatNeedMoreDevicesAreRefused) {
  PiperProblem problem = PiperFork();
  problem.nodes[1].modes = {{2, {Plain(1, 0)}}};
  EXPECT_THROW(ToTimedGraph(problem), InputError);
  problem = PiperFork();
  problem.nodes[1].modes[1][0].time_s = 1e300;
  EXPECT_THROW(ToTimedGraph(problem), InputError);
}

}  // namespace
}  // namespace stagecraft
