#include "search/partition/workload_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "search/partition/downsets.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// Every kernel takes a microsecond.
class MicrosecondModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    return std::vector<Estimate>(ops.size(), {.time = Duration::Nanoseconds(1000)});
  }
};

Device TestGpu() {
  Device device;
  device.name = "board";
  device.peak[static_cast<int>(DType::kBf16)] = FlopRate(1e14);
  return device;
}

Workload Load(const std::string& name) { return LoadWorkload(name, AttentionBackend::kFlash); }

TimedGraph Graph(const std::string& name, int64_t samples = 2, int64_t sequence = 128) {
  return ToTimedGraph(Load(name), {.samples = samples, .sequence = sequence}, TestGpu(),
                      MicrosecondModel());
}

int Find(const TimedGraph& graph, const std::string& name) {
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].name == name) return static_cast<int>(node);
  }
  ADD_FAILURE() << "no node " << name;
  return 0;
}

// norm -> qkv -> attention -> projection -> residual, which also reads the
// layer's input.
TEST(WorkloadGraphTest, ResidualsGoAroundTheBranch) {
  const TimedGraph graph = Graph("gpt2");
  const int residual = Find(graph, "2.attention_residual");
  const std::vector<int> producers = {Find(graph, "1.mlp_residual"), Find(graph, "2.projection")};
  EXPECT_EQ(graph.dag.producers[residual], producers);
  EXPECT_EQ(graph.dag.producers[Find(graph, "2.attention_norm")], std::vector<int>{producers[0]});
  const TimedNode& linear = graph.nodes[Find(graph, "2.mlp_up")];
  EXPECT_EQ(linear.forward, Duration::Nanoseconds(1000));   // one GEMM
  EXPECT_EQ(linear.backward, Duration::Nanoseconds(2000));  // of input and weights
  EXPECT_EQ(linear.activation, Bytes(2 * 128 * 4 * 768 * 2));
  EXPECT_EQ(linear.parameters, Bytes(2 * (768 * 4 * 768 + 4 * 768)));
}

TEST(WorkloadGraphTest, EveryOperatorAndParameterIsThereOnce) {
  for (const std::string name :
       {"gpt2", "bert-base", "resnet50", "vgg16", "t5-small", "mixtral-8x7b"}) {
    SCOPED_TRACE(name);
    const Workload workload = Load(name);
    const TimedGraph graph = Graph(name);
    size_t operators = 0;
    int64_t tied = 0;
    for (const int kind : workload.layers) {
      operators += workload.kinds[kind].operators.size();
      tied += workload.kinds[kind].tied_parameters;
    }
    EXPECT_EQ(graph.nodes.size(), operators);
    int64_t bytes = 0;
    for (const TimedNode& node : graph.nodes) bytes += node.parameters.count();
    EXPECT_EQ(bytes, 2 * (workload.Parameters() + tied));
    std::vector<std::string> names;
    for (const TimedNode& node : graph.nodes) names.push_back(node.name);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
}

// They are few enough to be listed: only a branch and the residual stream around it.
TEST(WorkloadGraphTest, DownsetsOfTransformersAreFew) {
  const TimedGraph graph = Graph("gpt2");
  EXPECT_LT(FindDownsets(graph.dag, "gpt2").size(), 2 * graph.nodes.size());
}

// The encoder's output travels with every block of the decoder.
TEST(WorkloadGraphTest, WhatALayerHandsOnIncludesWhatPassesThrough) {
  const TimedGraph graph = Graph("t5-small", 1, 64);
  const Bytes row(2 * 512 * 64);
  EXPECT_EQ(graph.nodes[Find(graph, "1.mlp_residual")].activation, row);
  EXPECT_EQ(graph.nodes[Find(graph, "10.mlp_residual")].activation, row + row);
  EXPECT_EQ(graph.nodes[Find(graph, "10.cross_attention_residual")].activation, row);
}

TEST(WorkloadGraphTest, ExpertsKeepTheirBranches) {
  const TimedGraph graph = Graph("mixtral-8x7b");
  EXPECT_EQ(graph.dag.producers[Find(graph, "1.permutation")].size(), 2u);  // rows, routing
  EXPECT_EQ(graph.nodes[Find(graph, "1.dispatch")].compute(), Duration());  // one device
}

TEST(WorkloadGraphTest, WhatCannotBeTimedIsRefused) {
  EXPECT_THROW(
      ToTimedGraph(Load("gpt2"), {.precision = DType::kFp8}, TestGpu(), MicrosecondModel()),
      InputError);
}

}  // namespace
}  // namespace stagecraft
