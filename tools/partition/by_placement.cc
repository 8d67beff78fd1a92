#include <fmt/core.h>

#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/check_placement.h"
#include "search/partition/latency.h"
#include "search/partition/max_load.h"
#include "search/partition/placement_problem.h"
#include "search/partition/stop_sign.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxLoadSteps = 3'000'000;
constexpr int kMostDevices = 64;  // of accelerators, and of CPUs
constexpr int64_t kLatencySteps = 1'000'000;

void AddStages(const PlacementProblem& problem, const NodePlacement& placement,
               bool pools_processors, PartitionAnswer& answer) {
  for (int device = 0; device < problem.devices(); ++device) {
    const bool is_accelerator = device < problem.accelerators;
    PartitionedStage stage;
    stage.place = is_accelerator     ? fmt::format("accelerator {}", device)
                  : pools_processors ? "CPUs"
                                     : fmt::format("CPU {}", device - problem.accelerators);
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
      "memory: {} accelerators of {:.4g} GB and {} CPUs do not hold the network, {:.4g} GB",
      problem.accelerators, problem.memory_bytes / 1e9, problem.cpus, bytes / 1e9);
}

// Returns no value if the problem has too many downsets, or if the solver is stopped too early:
// annealing does not need a contiguous placement to start from.
std::optional<MaxLoad> ContiguousStart(const PlacementProblem& problem, const StopSign& stop) {
  try {
    return SolveContiguousMaxLoad(problem, stop);
  } catch (const InputError&) {
  } catch (const Stopped&) {
  }
  return std::nullopt;
}

// Returns the best placement that annealing finds, which need not be contiguous. Throws Stopped if
// it is stopped before it found one that fits.
std::optional<MaxLoad> Anneal(const PlacementProblem& problem, uint64_t seed,
                              const StopSign& stop) {
  std::optional<MaxLoad> found = ContiguousStart(problem, stop);
  MaxLoad spread = ImproveMaxLoad(problem, SpreadInOrder(problem), kMaxLoadSteps, seed, stop);
  if (found) found = ImproveMaxLoad(problem, found->placement, kMaxLoadSteps, seed, stop);
  const bool fits = CheckMaxLoad(problem, spread.placement).errors.empty();
  if (fits && (!found || spread.max_load_ms < found->max_load_ms)) found = std::move(spread);
  if (!found && stop.was_obeyed()) throw Stopped();
  return found;
}

void PlaceForThroughput(const PlacementProblem& problem, const PartitionRequest& request,
                        const StopSign& stop, PartitionAnswer& answer) {
  const std::optional<MaxLoad> found = request.non_contiguous
                                           ? Anneal(problem, request.seed, stop)
                                           : SolveContiguousMaxLoad(problem, stop);
  if (!found) {
    answer.obstacle = Obstacle(problem);
    return;
  }
  CHECK(CheckMaxLoad(problem, found->placement).errors.empty());
  answer.is_cut_short = stop.was_obeyed();
  answer.bottleneck_s = found->max_load_ms / 1e3;
  answer.bound_s = found->bound_ms / 1e3;
  AddStages(problem, found->placement, false, answer);
}

}  // namespace

PartitionAnswer PartitionByPlacement(const PartitionRequest& request) {
  PlacementProblem problem = ParsePlacementProblem(request.graph.text, request.graph.path);
  if (request.devices) problem.accelerators = *request.devices;
  if (request.memory_bytes) problem.memory_bytes = *request.memory_bytes;
  if (problem.accelerators > kMostDevices || problem.cpus > kMostDevices) {
    throw InputError(fmt::format("--devices: got {} accelerators and {} CPUs, want at most {}",
                                 problem.accelerators, problem.cpus, kMostDevices));
  }
  const StopSign stop(request.budget);
  PartitionAnswer answer;
  if (request.algorithm == "dnn-throughput") {
    PlaceForThroughput(problem, request, stop, answer);
    return answer;
  }
  const auto found = SolveLatency(problem, kLatencySteps, request.seed, stop);
  if (!found) {
    answer.obstacle = Obstacle(problem);
    return answer;
  }
  CHECK(CheckLatency(problem, found->placement).errors.empty());
  answer.is_cut_short = stop.was_obeyed();
  answer.latency_s = found->latency_ms / 1e3;
  answer.bound_s = found->bound_ms / 1e3;
  AddStages(problem, found->placement, true, answer);
  return answer;
}

}  // namespace stagecraft
