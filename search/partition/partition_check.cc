#include "search/partition/partition_check.h"

#include <fmt/core.h>

#include <algorithm>

#include "costmodel/units.h"

namespace stagecraft {

void CheckStageOrder(const Dag& dag, std::span<const NodeSet> stages,
                     std::vector<std::string>& errors) {
  constexpr int kNone = -1;
  std::vector<int> stage_of(dag.size(), kNone);
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    if (stages[stage].none()) errors.push_back(fmt::format("stage {} is empty", stage));
    for (const int node : Members(stages[stage])) {
      if (stage_of[node] != kNone) {
        errors.push_back(
            fmt::format("node {} is in stages {} and {}", node, stage_of[node], stage));
      }
      stage_of[node] = static_cast<int>(stage);
    }
  }
  for (int node = 0; node < dag.size(); ++node) {
    if (stage_of[node] == kNone) errors.push_back(fmt::format("node {} is in no stage", node));
    for (const int consumer : dag.consumers[node]) {
      if (stage_of[node] <= stage_of[consumer]) continue;
      errors.push_back(fmt::format("node {} of stage {} feeds node {} of stage {} before it", node,
                                   stage_of[node], consumer, stage_of[consumer]));
    }
  }
}

double FrontierBytes(const TimedGraph& graph, const NodeSet& done) {
  const std::vector<NodeSet> before = Ancestors(graph.dag);
  NodeSet needed(done.size());
  for (const int node : Members(done)) {
    const std::vector<int>& consumers = graph.dag.consumers[node];
    if (std::any_of(consumers.begin(), consumers.end(), [&](int n) { return done.test(n); })) {
      continue;
    }
    needed.set(node);
    for (const int earlier : Members(before[node])) {
      for (const int consumer : graph.dag.consumers[earlier]) {
        if (consumer != node && !before[node].test(consumer)) needed.set(earlier);
      }
    }
  }
  Bytes bytes;
  for (const int node : Members(needed)) bytes += graph.nodes[node].activation;
  return static_cast<double>(bytes.count());
}

}  // namespace stagecraft
