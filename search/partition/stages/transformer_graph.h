// TransformerGraph: the operators of a transformer, with times by their floating-point operations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/dag.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

struct TransformerSize {
  std::string name;
  int layers = 1;
  int hidden = 1;
  int vocabulary = 1;
  int tokens = 1;  // of a minibatch
};

// TransformerGraph has eight operators for each layer, with both residual connections; numbers have
// 16 bits.
class TransformerGraph {
 public:
  static TimedGraph Make(const TransformerSize& size) {
    TransformerGraph made(size);
    return made.Finish();
  }

 private:
  // The rate of a device in a large GEMM; a round figure.
  static constexpr double kFlopPerSecond = 1e14;

  explicit TransformerGraph(const TransformerSize& size) : size_(size) {
    const double hidden = size.hidden;
    int residual = Add("embedding", {}, 0, hidden * size.vocabulary, hidden);
    for (int layer = 0; layer < size.layers; ++layer) {
      const int norm = Add("norm", {residual}, 0, 2 * hidden, hidden);
      const int inputs = Add("qkv", {norm}, 3 * hidden * hidden, -1, 3 * hidden);
      const int mixed = Add("attention", {inputs}, 1024 * hidden, 0, hidden);
      const int out = Add("projection", {mixed}, hidden * hidden, -1, hidden);
      const int sum = Add("sum", {residual, out}, 0, 0, hidden);
      const int wide = Add("wide", {sum}, 4 * hidden * hidden, -1, 4 * hidden);
      const int narrow = Add("narrow", {wide}, 4 * hidden * hidden, -1, hidden);
      residual = Add("sum", {sum, narrow}, 0, 0, hidden);
    }
    Add("head", {residual}, hidden * size.vocabulary, -1, 1);
  }

  // Adds an operator. `products` are multiplications per token; `weights` below 0 means as many as
  // these. The rest of its time is for moving its output, at a round 1 TB/s.
  int Add(const std::string& name, const std::vector<int>& producers, double products,
          double weights, double outputs) {
    const auto node = static_cast<int>(graph_.nodes.size());
    const double bytes = 2 * outputs * size_.tokens;
    const double seconds = 2 * products * size_.tokens / kFlopPerSecond + bytes / 1e12;
    graph_.nodes.push_back({name + std::to_string(node), Duration::Seconds(seconds),
                            Duration::Seconds(2 * seconds), Bytes(static_cast<int64_t>(bytes)),
                            Bytes(static_cast<int64_t>(2 * (weights < 0 ? products : weights)))});
    for (const int producer : producers) edges_.push_back({producer, node});
    return node;
  }

  TimedGraph Finish() {
    std::vector<std::string> names;
    for (const TimedNode& node : graph_.nodes) names.push_back(node.name);
    graph_.name = size_.name;
    graph_.dag = MakeDag(names, edges_, size_.name);
    return std::move(graph_);
  }

  const TransformerSize size_;
  TimedGraph graph_;
  std::vector<DagEdge> edges_;
};

}  // namespace stagecraft
