#include "search/partition/foreign_graphs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

TimedGraph Finish(const std::string& name, std::vector<TimedNode> nodes,
                  const std::vector<DagEdge>& edges) {
  std::vector<std::string> names;
  for (const TimedNode& node : nodes) names.push_back(node.name);
  Dag dag = MakeDag(names, edges, name);
  RequireOneComponent(names, edges, name);
  return {name, std::move(nodes), std::move(dag)};
}

// The limits of one operator: sums of a hundred thousand of them fit into 64 bits.
constexpr double kMostSeconds = kMostPlacementMs / 1e3;
constexpr double kMostBytes = kMostPlacementBytes;

double UpTo(double most, double amount, const std::string& graph, const std::string& node,
            const char* what) {
  if (amount <= most) return amount;
  throw InputError(
      fmt::format("{}: node {}: got {:g} {}, want at most {:g}", graph, node, amount, what, most));
}

class ColourGraph {
 public:
  ColourGraph(const PlacementProblem& problem, Bandwidth bandwidth)
      : problem_(problem), bandwidth_(bandwidth), group_of_(problem.nodes.size()) {
    for (size_t group = 0; group < problem.groups.size(); ++group) {
      for (const int node : problem.groups[group]) group_of_[node] = static_cast<int>(group);
    }
  }

  TimedGraph Make() const {
    std::vector<TimedNode> nodes;
    for (const std::vector<int>& group : problem_.groups) nodes.push_back(Sum(group));
    std::vector<DagEdge> edges;
    for (int node = 0; node < problem_.dag.size(); ++node) {
      for (const int consumer : problem_.dag.consumers[node]) {
        const bool is_forward =
            !problem_.nodes[node].is_backward && !problem_.nodes[consumer].is_backward;
        if (!is_forward || group_of_[node] == group_of_[consumer]) continue;
        edges.push_back({group_of_[node], group_of_[consumer]});
      }
    }
    return Finish(problem_.name, std::move(nodes), edges);
  }

 private:
  // Returns whether the node's output may have to go to another operator.
  bool LeavesGroup(int node) const {
    const std::vector<int>& consumers = problem_.dag.consumers[node];
    return std::any_of(consumers.begin(), consumers.end(),
                       [&](int consumer) { return group_of_[consumer] != group_of_[node]; });
  }

  Bytes Whole(double bytes, const std::string& node, const char* what) const {
    return Bytes(std::llround(UpTo(kMostBytes, bytes, problem_.name, node, what)));
  }

  TimedNode Sum(const std::vector<int>& group) const {
    TimedNode sum{"", {}, {}, {}, {}};
    double forward_ms = 0, backward_ms = 0, transfer_ms = 0, bytes = 0;
    for (const int member : group) {
      const PlacementNode& node = problem_.nodes[member];
      if (!node.runs_on_accelerator) {
        throw InputError(fmt::format(
            "{}: node {} runs on no accelerator, want a graph whose nodes all do, or --algorithm "
            "dnn-throughput",
            problem_.name, node.name));
      }
      (node.is_backward ? backward_ms : forward_ms) += node.accelerator_ms;
      if (LeavesGroup(member)) transfer_ms += node.transfer_ms;
      bytes += node.bytes;
      if (sum.name.empty() && !node.is_backward) sum.name = node.name;
    }
    if (sum.name.empty()) {
      throw InputError(
          fmt::format("{}: backward node {} has no forward node of its colorClass, want one",
                      problem_.name, problem_.nodes[group.front()].name));
    }
    sum.forward = Duration::Seconds(forward_ms / 1e3);
    sum.backward = Duration::Seconds(backward_ms / 1e3);
    // What crosses a cut is twice the bytes of an output: the output, and its gradient back.
    const double output = transfer_ms / 1e3 * bandwidth_.bytes_per_s() / 2;
    sum.activation = Whole(output, sum.name, "bytes to transfer");
    sum.parameters = Whole(bytes, sum.name, "bytes");
    return sum;
  }

  const PlacementProblem& problem_;
  const Bandwidth bandwidth_;
  std::vector<int> group_of_;
};

}  // namespace

TimedGraph ToTimedGraph(const PlacementProblem& problem, Bandwidth bandwidth) {
  return ColourGraph(problem, bandwidth).Make();
}

TimedGraph ToTimedGraph(const PiperProblem& problem) {
  std::vector<TimedNode> nodes;
  for (const PiperNode& node : problem.nodes) {
    const auto alone = node.modes.find(1);
    if (alone == node.modes.end() || alone->second.empty()) {
      throw InputError(
          fmt::format("{}: node {} has no TMPCs of degree 1, want them", problem.name, node.name));
    }
    const PiperMode& plain = alone->second.front();
    const double seconds = UpTo(kMostSeconds, plain.time_s, problem.name, node.name, "seconds");
    const double bytes =
        UpTo(kMostBytes, plain.parameters_bytes, problem.name, node.name, "bytes of parameters");
    nodes.push_back({node.name, Duration::Seconds(seconds), {}, {}, Bytes(std::llround(bytes))});
  }
  std::vector<DagEdge> edges;
  for (const auto& [edge, bytes] : problem.edge_bytes) {
    TimedNode& node = nodes[edge.from];
    const double most = UpTo(kMostBytes, bytes, problem.name, node.name, "bytes to transfer");
    node.activation = std::max(node.activation, Bytes(std::llround(most)));
    edges.push_back(edge);
  }
  return Finish(problem.name, std::move(nodes), edges);
}

}  // namespace stagecraft
