#include "search/partition/check_placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

void CheckPlaces(const PlacementProblem& problem, const NodePlacement& placement,
                 std::vector<std::string>& errors) {
  for (int node = 0; node < problem.dag.size(); ++node) {
    if (placement[node] < 0 || placement[node] >= problem.devices()) {
      errors.push_back(fmt::format("node {} is on device {} of {}", problem.nodes[node].name,
                                   placement[node], problem.devices()));
    } else if (placement[node] < problem.accelerators && !problem.nodes[node].runs_on_accelerator) {
      errors.push_back(fmt::format("node {} runs on no accelerator", problem.nodes[node].name));
    }
  }
  for (const std::vector<int>& group : problem.groups) {
    for (const int node : group) {
      if (placement[node] == placement[group[0]]) continue;
      errors.push_back(fmt::format("nodes {} and {} of one colour are on two devices",
                                   problem.nodes[group[0]].name, problem.nodes[node].name));
    }
  }
}

double AcceleratorLoad(const PlacementProblem& problem, const NodePlacement& placement,
                       int device) {
  std::set<int> inputs, outputs;
  double load_ms = 0;
  for (int node = 0; node < problem.dag.size(); ++node) {
    if (placement[node] == device) load_ms += problem.nodes[node].accelerator_ms;
    for (const int consumer : problem.dag.consumers[node]) {
      if (placement[node] == placement[consumer]) continue;
      if (placement[node] == device) outputs.insert(node);
      if (placement[consumer] == device) inputs.insert(node);
    }
  }
  for (const int node : inputs) load_ms += problem.nodes[node].transfer_ms;
  for (const int node : outputs) load_ms += problem.nodes[node].transfer_ms;
  return load_ms;
}

}  // namespace

PartitionCheck CheckMaxLoad(const PlacementProblem& problem, const NodePlacement& placement) {
  CHECK(placement.size() == problem.nodes.size());
  PartitionCheck check;
  CheckPlaces(problem, placement, check.errors);
  for (int device = 0; device < problem.devices(); ++device) {
    double cpu_ms = 0, bytes = 0;
    for (int node = 0; node < problem.dag.size(); ++node) {
      if (placement[node] != device) continue;
      cpu_ms += problem.nodes[node].cpu_ms;
      bytes += problem.nodes[node].bytes;
    }
    const bool is_accelerator = device < problem.accelerators;
    check.objective = std::max(
        check.objective, is_accelerator ? AcceleratorLoad(problem, placement, device) : cpu_ms);
    if (is_accelerator && bytes > problem.memory_bytes) {
      check.errors.push_back(fmt::format("accelerator {} needs {} bytes, has {}", device, bytes,
                                         problem.memory_bytes));
    }
  }
  return check;
}

// Raises the end of each operator until none rises any more.
PartitionCheck CheckLatency(const PlacementProblem& problem, const NodePlacement& placement) {
  PartitionCheck check = CheckMaxLoad(problem, placement);
  check.objective = 0;
  const auto runs_alone = [&](int node) { return placement[node] >= problem.accelerators; };
  std::vector<double> end_ms(problem.nodes.size(), 0);
  bool rises = true;
  for (int round = 0; rises && round <= problem.dag.size() + 1; ++round) {
    rises = false;
    std::vector<double> start_ms(problem.devices(), 0);
    for (int node = 0; node < problem.dag.size(); ++node) {
      for (const int producer : problem.dag.producers[node]) {
        if (placement[producer] == placement[node]) continue;
        start_ms[placement[node]] = std::max(start_ms[placement[node]], end_ms[producer]);
      }
    }
    for (const int node : problem.dag.order) {
      double end = 0;
      if (runs_alone(node)) {
        for (const int producer : problem.dag.producers[node])
          end = std::max(end, end_ms[producer]);
        end += problem.nodes[node].cpu_ms;
      } else {
        end = start_ms[placement[node]] + AcceleratorLoad(problem, placement, placement[node]);
      }
      rises = rises || end > end_ms[node] * (1 + 1e-12);
      end_ms[node] = std::max(end, end_ms[node]);
    }
  }
  if (rises) check.errors.push_back("accelerators wait for each other in a circle");
  check.objective = *std::max_element(end_ms.begin(), end_ms.end());
  return check;
}

void CheckContiguity(const PlacementProblem& problem, const NodePlacement& placement,
                     std::vector<std::string>& errors) {
  for (const bool is_backward : {false, true}) {
    std::set<DagEdge> edges;
    for (int node = 0; node < problem.dag.size(); ++node) {
      for (const int consumer : problem.dag.consumers[node]) {
        const bool counts = problem.nodes[node].is_backward == is_backward &&
                            problem.nodes[consumer].is_backward == is_backward;
        if (counts && placement[node] != placement[consumer]) {
          edges.insert({placement[node], placement[consumer]});
        }
      }
    }
    const std::vector<DagEdge> list(edges.begin(), edges.end());
    try {
      MakeDag(std::vector<std::string>(problem.devices()), list, "devices");
    } catch (const InputError&) {
      errors.push_back(is_backward ? "devices form a cycle of backward operators"
                                   : "devices form a cycle of forward operators");
    }
  }
}

}  // namespace stagecraft
