#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "costmodel/check.h"
#include "search/partition/check_placement.h"
#include "search/partition/latency.h"
#include "search/partition/max_load.h"
#include "search/partition/placement_problem.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxLoadSteps = 3'000'000;
constexpr int kMostDevices = 64;  // accelerators, and processors
constexpr int64_t kLatencySteps = 1'000'000;

void AddStages(const PlacementProblem& problem, const NodePlacement& placement,
               bool pools_processors, PartitionAnswer& answer) {
  for (int device = 0; device < problem.devices(); ++device) {
    const bool is_accelerator = device < problem.accelerators;
    PartitionedStage stage;
    stage.place = is_accelerator     ? fmt::format("accelerator {}", device)
                  : pools_processors ? "processors"
                                     : fmt::format("processor {}", device - problem.accelerators);
    for (int node = 0; node < problem.dag.size(); ++node) {
      if (placement[node] != device) continue;
      const PlacementNode& placed = problem.nodes[node];
      stage.nodes.push_back(placed.name);
      stage.time_s += (is_accelerator ? placed.accelerator_ms : placed.cpu_ms) / 1e3;
      stage.memory_bytes += placed.bytes;
    }
    if (!stage.nodes.empty()) answer.stages.push_back(stage);
  }
}

std::string Obstacle(const PlacementProblem& problem) {
  double bytes = 0;
  for (const PlacementNode& node : problem.nodes) bytes += node.bytes;
  return fmt::format(
      "memory: {} accelerators of {:.4g} GB and {} processors do not hold the network, {:.4g} GB",
      problem.accelerators, problem.memory_bytes / 1e9, problem.cpus, bytes / 1e9);
}

void PlaceForThroughput(const PlacementProblem& problem, const PartitionRequest& request,
                        PartitionAnswer& answer) {
  std::optional<MaxLoad> found;
  try {
    found = SolveContiguousMaxLoad(problem);
  } catch (const InputError&) {
    if (!request.non_contiguous) throw;  // too many downsets: annealing needs none
  }
  if (request.non_contiguous) {
    MaxLoad spread = ImproveMaxLoad(problem, SpreadInOrder(problem), kMaxLoadSteps, request.seed);
    if (found) found = ImproveMaxLoad(problem, found->placement, kMaxLoadSteps, request.seed);
    const bool fits = CheckMaxLoad(problem, spread.placement).errors.empty();
    if (fits && (!found || spread.max_load_ms < found->max_load_ms)) found = spread;
  }
  if (!found) {
    answer.obstacle = Obstacle(problem);
    return;
  }
  CHECK(CheckMaxLoad(problem, found->placement).errors.empty());
  answer.bottleneck_s = found->max_load_ms / 1e3;
  AddStages(problem, found->placement, false, answer);
}

}  // namespace

PartitionAnswer PartitionByPlacement(const PartitionRequest& request) {
  PlacementProblem problem = ParsePlacementProblem(request.graph.text, request.graph.path);
  if (request.devices) problem.accelerators = *request.devices;
  if (request.memory_bytes) problem.memory_bytes = *request.memory_bytes;
  if (problem.accelerators > kMostDevices || problem.cpus > kMostDevices) {
    throw InputError(
        fmt::format("--devices: got {} accelerators and {} processors, want at most {}",
                    problem.accelerators, problem.cpus, kMostDevices));
  }
  PartitionAnswer answer;
  if (request.algorithm == "dnn-throughput") {
    PlaceForThroughput(problem, request, answer);
    return answer;
  }
  const auto found = SolveLatency(problem, kLatencySteps, request.seed);
  if (!found) {
    answer.obstacle = Obstacle(problem);
    return answer;
  }
  CHECK(CheckLatency(problem, found->placement).errors.empty());
  answer.latency_s = found->latency_ms / 1e3;
  AddStages(problem, found->placement, true, answer);
  return answer;
}

}  // namespace stagecraft
