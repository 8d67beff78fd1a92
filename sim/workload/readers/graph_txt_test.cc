#include "sim/workload/readers/graph_txt.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/shared_csv.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"

namespace stagecraft {
namespace {

std::string Node(const std::string& id, const std::string& description = "ReLU(inplace)") {
  return id + " -- " + description +
         " -- forward_compute_time=1.500, backward_compute_time=2.000, activation_size=100.000, "
         "parameter_size=40.000\n";
}

std::string ErrorOf(const std::string& text) {
  try {
    ParseProfiledGraph(text, "graph.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GraphTxtTest, ReadsNodesAndEdgesInTopologicalOrder) {
  const ProfiledGraph graph =
      ParseProfiledGraph(Node("node10", "Conv2d(3, 64, kernel_size=(3, 3), bias=False)") +
                             Node("node9", "Input0") + "\tnode9 -- node10\n",
                         "graph.txt");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].id, "node9");
  EXPECT_TRUE(graph.nodes[0].is_input());
  EXPECT_EQ(graph.nodes[1].description, "Conv2d(3, 64, kernel_size=(3, 3), bias=False)");
  EXPECT_EQ(graph.nodes[1].forward, Duration::Seconds(0.0015));
  EXPECT_EQ(graph.nodes[1].backward, Duration::Seconds(0.002));
  EXPECT_EQ(graph.nodes[1].activation, Bytes(100));
  EXPECT_EQ(graph.nodes[1].parameters, Bytes(40));
  EXPECT_EQ(graph.nodes[1].stage, -1);
  EXPECT_EQ(graph.edges, (std::vector<ProfiledEdge>{{0, 1}}));
}

TEST(GraphTxtTest, AddsUpSeveralOutputsAndReadsStages) {
  const ProfiledGraph graph = ParseProfiledGraph(
      "a -- LSTM(8, 8) -- forward_compute_time=1, backward_compute_time=2, "
      "activation_size=[6.0; 2.0; 2.0], parameter_size=0 -- stage_id=3\r\n\r\n",
      "graph.txt");
  EXPECT_EQ(graph.nodes[0].activation, Bytes(10));
  EXPECT_EQ(graph.nodes[0].stage, 3);
}

TEST(GraphTxtTest, FileOrderDoesNotMatter) {
  const std::string edges = "\ta -- c\n\ta -- b\n\tb -- d\n\tc -- d\n";
  const ProfiledGraph one =
      ParseProfiledGraph(Node("a") + Node("b") + Node("c") + Node("d") + edges, "x");
  const ProfiledGraph two = ParseProfiledGraph(
      "\tc -- d\n\tb -- d\n\ta -- b\n\ta -- c\n" + Node("d") + Node("c") + Node("b") + Node("a"),
      "x");
  EXPECT_EQ(one.nodes, two.nodes);
  EXPECT_EQ(one.edges, two.edges);
  for (const ProfiledEdge& edge : one.edges) EXPECT_LT(edge.from, edge.to);
}

// Input -> a -> b -> c, and a -> c: what a puts out passes by b.
TEST(GraphTxtTest, MakesAWorkloadWhoseLayersHandOnWhatLaterOnesRead) {
  const std::string text = Node("in", "Input0") + Node("a", "Conv2d(3, 64)") + Node("b") +
                           Node("c") + "\tin -- a\n\ta -- b\n\tb -- c\n\ta -- c\n";
  const Workload workload = ToWorkload(ParseProfiledGraph(text, "x"), "x");
  ASSERT_EQ(workload.layer_count(), 3);
  EXPECT_TRUE(workload.is_profile());
  EXPECT_EQ(workload.Parameters(), 3 * 10);
  EXPECT_EQ(workload.layer(0).name, "a Conv2d");
  EXPECT_EQ(workload.layer(0).boundary_features, 25);
  EXPECT_EQ(workload.layer(1).boundary_features, 50);
  EXPECT_EQ(workload.layer(2).boundary_features, 0);
  const Operator& op = workload.layer(1).operators[0];
  EXPECT_EQ(op.forward_time, 1500_us);
  EXPECT_EQ(op.backward_time, 2000_us);
  EXPECT_EQ(WorkloadFromProto(WorkloadToProto(workload), "x"), workload);
  EXPECT_THROW(ToWorkload(ParseProfiledGraph(Node("a"), "x"), "x"), InputError);
}

TEST(GraphTxtTest, NamesWhatIsWrong) {
  EXPECT_EQ(ErrorOf(Node("a") + Node("a")), "graph.txt:2: node a is already on line 1");
  EXPECT_EQ(ErrorOf(Node("a") + "\ta -- b\n"), "graph.txt:2: edge a -- b: no node is called 'b'");
  EXPECT_EQ(ErrorOf(Node("a") + Node("b") + "\ta -- b\n\ta -- b\n"),
            "graph.txt:4: edge a -- b is already on line 3");
  EXPECT_EQ(ErrorOf(Node("a") + Node("b") + Node("c") + "\ta -- b\n\tb -- c\n\tc -- b\n"),
            "graph.txt: node b (ReLU(inplace)) is on a cycle, want a graph without");
  EXPECT_EQ(ErrorOf(Node("a") + "\ta -- a\n"),
            "graph.txt: node a (ReLU(inplace)) is on a cycle, want a graph without");
  EXPECT_EQ(ErrorOf(""), "graph.txt: has no nodes, want at least one");
  EXPECT_EQ(ErrorOf("\x1f\x8b\x08"), "graph.txt: is compressed with gzip, want plain text");
}

TEST(GraphTxtTest, RefusesBadNumbers) {
  const auto with = [](const std::string& time, const std::string& size,
                       const std::string& rest = "") {
    return ErrorOf("a -- b -- forward_compute_time=" + time +
                   ", backward_compute_time=0, activation_size=" + size + ", parameter_size=0" +
                   rest);
  };
  EXPECT_EQ(with("1", "1"), "");
  EXPECT_EQ(with("x", "1"),
            "graph.txt:1: forward_compute_time: got 'x', want a number of 0 to 3.6e+06");
  for (const char* bad : {"-1", "nan", "inf", "1e300", "", "1.0.0", "[1]"}) {
    EXPECT_NE(with(bad, "1"), "") << bad;
  }
  for (const char* bad : {"-1", "nan", "[]", "[1;]", "[1", "1e30", "[1; x]"}) {
    EXPECT_NE(with("1", bad), "") << bad;
  }
  EXPECT_NE(with("1", "1", ", other=2"), "");
  EXPECT_NE(with("1", "1", ", parameter_size=0"), "");
  EXPECT_NE(with("1", "1", " -- stage_id=-2"), "");
  EXPECT_NE(ErrorOf("a -- b -- forward_compute_time=1"), "");
  EXPECT_NE(ErrorOf("a -- b\n"), "");
  EXPECT_NE(ErrorOf(Node("a") + "\ta\n"), "");
}

// PipeDream's published profiles: nodes, edges, forward and backward ms, MB of parameters.
struct Totals {
  const char* model;
  size_t nodes, edges;
  double forward_ms, backward_ms, parameter_mb;
};

TEST(GraphTxtTest, AgreesWithTheTableOfShippedProfiles) {
  if (!HasSharedData()) GTEST_SKIP() << "STAGECRAFT_SHARED is not set";
  const std::vector<Totals> table = {{"vgg16", 41, 41, 233.9, 438.6, 553.4},
                                     {"resnet50", 177, 193, 182.5, 260.9, 102.2},
                                     {"alexnet", 23, 23, 44.8, 40.5, 244.4},
                                     {"resnet18", 71, 79, 107.4, 152.3, 46.8},
                                     {"resnet101", 347, 380, 197.3, 213.8, 178.2},
                                     {"resnext50", 177, 193, 221.8, 369.0, 100.1},
                                     {"resnext101", 347, 380, 239.1, 318.3, 176.7},
                                     {"densenet121", 429, 487, 177.4, 148.8, 31.9},
                                     {"inception_v3", 326, 362, 289.3, 399.8, 108.6},
                                     {"nasnetalarge", 1251, 1468, 409.1, 249.2, 369},
                                     {"nasnetamobile", 921, 1078, 322.9, 261.4, 34.3},
                                     {"squeezenet1_0", 68, 76, 113.2, 172.1, 5.0},
                                     {"gnmt", 48, 58, 33.5, 55.9, 775},
                                     {"gnmt_large", 96, 122, 182.6, 337.9, 1111}};
  const std::filesystem::path folder =
      std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/planning/pipedream/graphs";
  int read = 0;
  for (const Totals& totals : table) {
    const std::filesystem::path path = folder / totals.model / "graph.txt";
    if (!std::filesystem::exists(path)) continue;  // part of the profiles is kept aside
    ++read;
    const ProfiledGraph graph = ReadProfiledGraph(path.string());
    EXPECT_EQ(graph.nodes.size(), totals.nodes) << path;
    EXPECT_EQ(graph.edges.size(), totals.edges) << path;
    double forward = 0, backward = 0, parameters = 0;
    for (const ProfiledNode& node : graph.nodes) {
      if (node.is_input()) continue;
      forward += 1e3 * node.forward.seconds();
      backward += 1e3 * node.backward.seconds();
      parameters += 1e-6 * static_cast<double>(node.parameters.count());
    }
    EXPECT_NEAR(forward, totals.forward_ms, 0.06) << path;
    EXPECT_NEAR(backward, totals.backward_ms, 0.06) << path;
    EXPECT_NEAR(parameters, totals.parameter_mb, 0.5) << path;
  }
  EXPECT_GE(read, 1) << folder;
}

}  // namespace
}  // namespace stagecraft
