#include "search/partition/stages/stage_problem.h"

#include <fmt/core.h>

namespace stagecraft {

int StageProblem::devices() const {
  int devices = 0;
  for (const StageDeviceKind& kind : kinds) devices += kind.count;
  return devices;
}

std::vector<std::string> FindErrors(const StageProblem& problem) {
  std::vector<std::string> errors;
  if (problem.kinds.empty()) errors.push_back("kinds: got none, want at least one");
  for (size_t k = 0; k < problem.kinds.size(); ++k) {
    const StageDeviceKind& kind = problem.kinds[k];
    if (kind.count < 1) {
      errors.push_back(fmt::format("kinds[{}].count: got {}, want >= 1", k, kind.count));
    }
    if (!(kind.speed > 0)) {
      errors.push_back(fmt::format("kinds[{}].speed: got {}, want > 0", k, kind.speed));
    }
    if (kind.memory && kind.memory->count() <= 0) {
      errors.push_back(
          fmt::format("kinds[{}].memory: got {} bytes, want > 0", k, kind.memory->count()));
    }
  }
  if (!(problem.bandwidth.bytes_per_s() > 0)) {
    errors.push_back(
        fmt::format("bandwidth: got {} B/s, want > 0", problem.bandwidth.bytes_per_s()));
  }
  return errors;
}

std::vector<std::string> FindErrors(const StageProblem& problem, const StagePlan& plan) {
  const int nodes = problem.graph.dag.size();
  if (static_cast<int>(plan.stage_of.size()) != nodes) {
    return {fmt::format("the plan has {} nodes, the graph {}", plan.stage_of.size(), nodes)};
  }
  std::vector<std::string> errors;
  std::vector<bool> is_used(plan.stages());
  for (int node = 0; node < nodes; ++node) {
    const int stage = plan.stage_of[node];
    if (stage < 0 || stage >= plan.stages()) return {fmt::format("node {} has no stage", node)};
    is_used[stage] = true;
    for (const int consumer : problem.graph.dag.consumers[node]) {
      if (plan.stage_of[consumer] >= stage) continue;
      errors.push_back(fmt::format("node {} comes after its consumer {}", node, consumer));
    }
  }
  for (int stage = 0; stage < plan.stages(); ++stage) {
    if (!is_used[stage]) errors.push_back(fmt::format("stage {} is empty", stage));
    const StageReplicas& on = plan.replicas[stage];
    if (on.kind < 0 || on.kind >= static_cast<int>(problem.kinds.size()) || on.replicas < 1) {
      return {fmt::format("stage {} is on {} devices of type {}", stage, on.replicas, on.kind)};
    }
  }
  const std::vector<int> unused = UnusedDevices(problem, plan);
  for (size_t kind = 0; kind < unused.size(); ++kind) {
    if (unused[kind] >= 0) continue;
    errors.push_back(fmt::format("device type {} lacks {} devices", kind, -unused[kind]));
  }
  return errors;
}

StagePlan OneStage(const StageProblem& problem) {
  return {std::vector<int>(problem.graph.dag.size(), 0), {StageReplicas{}}};
}

std::vector<StageReplicas> ReplicaChoices(const StageProblem& problem) {
  std::vector<StageReplicas> choices;
  for (int kind = 0; kind < static_cast<int>(problem.kinds.size()); ++kind) {
    for (int replicas = 1; replicas <= problem.kinds[kind].count; ++replicas) {
      choices.push_back({kind, replicas});
    }
  }
  return choices;
}

std::vector<int> UnusedDevices(const StageProblem& problem, const StagePlan& plan) {
  std::vector<int> unused;
  for (const StageDeviceKind& kind : problem.kinds) unused.push_back(kind.count);
  for (const StageReplicas& on : plan.replicas) unused[on.kind] -= on.replicas;
  return unused;
}

}  // namespace stagecraft
