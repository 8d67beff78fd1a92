#include "search/partition/stages/policy_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stagecraft {
namespace {

// Factors that bring logarithms of microseconds and bytes to about 1.
constexpr double kLogTimes = 0.1;
constexpr double kLogBytes = 0.05;

double LogBytes(int64_t bytes) { return kLogBytes * std::log1p(static_cast<double>(bytes)); }

double LogTime(Duration time) { return kLogTimes * std::log1p(time.us()); }

Matrix MeansOver(const std::vector<std::vector<int>>& neighbours) {
  Matrix means = Matrix::Zero(neighbours.size(), neighbours.size());
  for (size_t node = 0; node < neighbours.size(); ++node) {
    for (const int neighbour : neighbours[node]) {
      means(node, neighbour) = 1.0 / static_cast<double>(neighbours[node].size());
    }
  }
  return means;
}

Matrix SymmetricallyNormalized(const Dag& dag) {
  Matrix links = Matrix::Identity(dag.size(), dag.size());
  for (int node = 0; node < dag.size(); ++node) {
    for (const int consumer : dag.consumers[node]) {
      links(node, consumer) = 1;
      links(consumer, node) = 1;
    }
  }
  const Eigen::VectorXd scale = links.rowwise().sum().cwiseSqrt().cwiseInverse();
  return scale.asDiagonal() * links * scale.asDiagonal();
}

std::vector<int> Depths(const Dag& dag) {
  std::vector<int> depths(dag.size());
  for (const int node : dag.order) {
    for (const int consumer : dag.consumers[node]) {
      depths[consumer] = std::max(depths[consumer], depths[node] + 1);
    }
  }
  return depths;
}

}  // namespace

PolicyGraph::PolicyGraph(const StageProblem& problem)
    : PolicyGraph(problem, ReplicaChoices(problem)) {}

PolicyGraph::PolicyGraph(const StageProblem& problem, std::vector<StageReplicas> choices)
    : costs_(problem),
      choices_(std::move(choices)),
      features_(problem.graph.dag.size(), kNodeFeatures),
      undirected_(SymmetricallyNormalized(problem.graph.dag)),
      from_producers_(MeansOver(problem.graph.dag.producers)),
      from_consumers_(MeansOver(problem.graph.dag.consumers)) {
  const Dag& dag = costs_.dag();
  int64_t all_ns = 0;
  for (int node = 0; node < dag.size(); ++node) all_ns += costs_.of(node).compute_ns;
  const double total_ns = static_cast<double>(std::max<int64_t>(all_ns, 1));
  double power = 0;
  for (const StageDeviceKind& kind : problem.kinds) power += kind.count * kind.speed;
  ideal_s_ = total_ns * 1e-9 / power;
  const std::vector<int> depths = Depths(dag);
  const double deepest = std::max(1, *std::max_element(depths.begin(), depths.end()));
  for (int v = 0; v < dag.size(); ++v) {
    const TimedNode& node = problem.graph.nodes[v];
    features_.row(v) << LogTime(node.forward), LogTime(node.backward),
        LogBytes(node.parameters.count()), LogBytes(node.activation.count()),
        static_cast<double>(costs_.of(v).compute_ns) / total_ns * dag.size(), depths[v] / deepest,
        0.25 * static_cast<double>(dag.producers[v].size()),
        0.25 * static_cast<double>(dag.consumers[v].size()), 1;
  }
}

Eigen::RowVectorXd PolicyGraph::ChoiceFeatures(const StageSizes& sizes, int64_t in, int64_t out,
                                               const StageReplicas& on,
                                               const std::vector<int>& unused,
                                               int stages_behind) const {
  const StageDeviceKind& kind = problem().kinds[on.kind];
  int left = 0;
  for (const int devices : unused) left += devices;
  const double devices = problem().devices();
  const double seconds = costs_.Seconds(sizes, on, in, out);
  constexpr double kLeastShare = 1e-3;
  Eigen::RowVectorXd row(kChoiceFeatures);
  row << std::log(seconds / ideal_s_ + kLeastShare), on.replicas / devices,
      static_cast<double>(on.replicas) / std::max(1, unused[on.kind]), std::log(kind.speed),
      left / devices, stages_behind / devices,
      static_cast<double>(on.replicas) / std::max(1, left - stages_behind),
      costs_.Excess(sizes, on, left - on.replicas) > 0 ? 1 : 0, LogBytes(in), LogBytes(out);
  return row;
}

}  // namespace stagecraft
