#include "search/partition/stages/stage_costs.h"

#include <algorithm>

namespace stagecraft {
namespace {

constexpr double kOverMemoryFactor = 1000;

}  // namespace

StageSizes& StageSizes::operator+=(const StageSizes& other) {
  compute_ns += other.compute_ns;
  parameters += other.parameters;
  activations += other.activations;
  return *this;
}

StageSizes& StageSizes::operator-=(const StageSizes& other) {
  compute_ns -= other.compute_ns;
  parameters -= other.parameters;
  activations -= other.activations;
  return *this;
}

StageCosts::StageCosts(const StageProblem& problem) : problem_(problem) {
  for (const TimedNode& node : problem.graph.nodes) {
    nodes_.push_back({node.compute().ns(), node.parameters.count(), node.activation.count()});
  }
  for (const StageDeviceKind& kind : problem.kinds) has_memory_ |= kind.memory.has_value();
}

double StageCosts::Seconds(const StageSizes& sizes, const StageReplicas& on, int64_t in,
                           int64_t out) const {
  const double replicas = on.replicas;
  const double bandwidth = problem_.bandwidth.bytes_per_s();
  const double compute =
      static_cast<double>(sizes.compute_ns) * 1e-9 / problem_.kinds[on.kind].speed;
  const double sync =
      4 * (replicas - 1) * static_cast<double>(sizes.parameters) / (bandwidth * replicas);
  const double transfer = 2 * static_cast<double>(std::max(in, out)) / (bandwidth * replicas);
  return std::max((compute + sync) / replicas, transfer);
}

double StageCosts::Excess(const StageSizes& sizes, const StageReplicas& on, int behind) const {
  const std::optional<Bytes>& memory = problem_.kinds[on.kind].memory;
  if (!memory) return 0;
  const int in_flight = (behind + on.replicas + on.replicas - 1) / on.replicas;
  const double needed =
      static_cast<double>(in_flight) * static_cast<double>(sizes.parameters + sizes.activations);
  return std::max(0.0, needed / static_cast<double>(memory->count()) - 1);
}

double StageCosts::LeastSeconds() const {
  StageSizes all;
  for (const StageSizes& node : nodes_) all += node;
  double power = 0;
  for (const StageDeviceKind& kind : problem_.kinds) power += kind.count * kind.speed;
  return static_cast<double>(all.compute_ns) * 1e-9 / power;
}

double StageCosts::Score(double slowest_s, double excess) {
  return excess > 0 ? slowest_s * kOverMemoryFactor * (1 + excess) : slowest_s;
}

double StageScorer::Score(const StagePlan& plan) {
  const int stages = plan.stages();
  sizes_.assign(stages, {});
  crossing_.assign(stages, 0);  // at first the changes from stage to stage, then their sums
  const Dag& dag = costs_.dag();
  for (int node = 0; node < dag.size(); ++node) {
    const int stage = plan.stage_of[node];
    const StageSizes& node_sizes = costs_.of(node);
    sizes_[stage] += node_sizes;
    int last = stage;
    for (const int consumer : dag.consumers[node]) last = std::max(last, plan.stage_of[consumer]);
    crossing_[stage] += node_sizes.activations;
    crossing_[last] -= node_sizes.activations;
  }
  for (int stage = 1; stage < stages; ++stage) crossing_[stage] += crossing_[stage - 1];
  double slowest = 0;
  double excess = 0;
  int behind = 0;
  for (int stage = stages - 1; stage >= 0; --stage) {
    const StageReplicas& on = plan.replicas[stage];
    const int64_t in = stage > 0 ? crossing_[stage - 1] : 0;
    const int64_t out = stage > 0 ? crossing_[stage] : 0;
    slowest = std::max(slowest, costs_.Seconds(sizes_[stage], on, in, out));
    excess = std::max(excess, costs_.Excess(sizes_[stage], on, behind));
    behind += on.replicas;
  }
  return StageCosts::Score(slowest, excess);
}

}  // namespace stagecraft
