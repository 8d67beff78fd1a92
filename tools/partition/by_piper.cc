#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "costmodel/check.h"
#include "search/partition/downsets.h"
#include "search/partition/partition_check.h"
#include "search/partition/piper.h"
#include "search/partition/piper_problem.h"
#include "search/partition/stop_sign.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {
namespace {

PiperOptions OptionsOf(const PartitionRequest& request, const PiperProblem& problem) {
  PiperOptions options;
  options.devices = request.devices.value_or(problem.devices);
  options.memory_bytes = request.memory_bytes.value_or(problem.memory_bytes);
  options.bandwidth_bytes_per_s = request.bandwidth_bytes_per_s.empty()
                                      ? problem.bandwidth_bytes_per_s
                                      : request.bandwidth_bytes_per_s[0];
  options.micro_batches = request.micro_batches.value_or(problem.micro_batches);
  options.data_parallel = request.data_parallel;
  options.tensor_parallel = request.tensor_parallel;
  options.recompute = request.recompute;
  if (options.devices < 1 || options.devices > kMostPiperDevices) {
    throw InputError(
        fmt::format("--devices: got {}, want 1 to {}", options.devices, kMostPiperDevices));
  }
  if (options.micro_batches < 1) throw InputError("--micro-batches: got 0, want at least 1");
  if (!(options.bandwidth_bytes_per_s > 0)) throw InputError("--bandwidth: got 0, want more");
  return options;
}

// Returns why nothing fits into memory: the least that the network and its largest node need.
std::string Obstacle(const PiperProblem& problem, const PiperOptions& options) {
  double most = -1;
  std::string name;
  double sum = 0;
  for (const PiperNode& node : problem.nodes) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [degree, modes] : node.modes) {
      if (degree > options.devices || (degree > 1 && !options.tensor_parallel)) continue;
      for (const PiperMode& mode : modes) {
        least = std::min(least, mode.bytes_per_micro_batch + mode.fixed_bytes);
        if (!options.recompute) break;
      }
    }
    sum += least;
    if (least <= most) continue;
    most = least;
    name = node.name;
  }
  constexpr double kGib = 1024.0 * 1024 * 1024;
  return fmt::format(
      "memory: with one micro-batch in flight the network needs at least {:.4g} GiB per device of "
      "a stage that holds all of it (its largest operator, {}, {:.4g} GiB); {} devices have {:.4g} "
      "GiB each, and stages in front keep several micro-batches",
      sum / kGib, name, most / kGib, options.devices, options.memory_bytes / kGib);
}

}  // namespace

PartitionAnswer PartitionByPiper(const PartitionRequest& request) {
  const PiperProblem problem = ParsePiperProblem(request.graph.text, request.graph.path);
  const PiperOptions options = OptionsOf(request, problem);
  const StopSign stop(request.budget);
  PartitionAnswer answer;
  answer.states =
      static_cast<int>(FindDownsets(problem.dag, problem.name, kMostDownsets, stop).size());
  const std::optional<PiperPartition> partition = SolvePiper(problem, options, stop);
  if (!partition) {
    answer.obstacle = Obstacle(problem, options);
    return answer;
  }
  CHECK(CheckPiper(problem, options, *partition).errors.empty());
  answer.is_cut_short = stop.was_obeyed();
  answer.bottleneck_s = partition->bottleneck_s;
  answer.bound_s = partition->bound_s;
  for (const PiperStage& stage : partition->stages) {
    PartitionedStage added;
    added.replicas = stage.replicas;
    added.tensor = stage.tensor;
    added.time_s = stage.time_s;
    added.memory_bytes = stage.memory_bytes;
    for (const int node : Members(stage.nodes)) added.nodes.push_back(problem.nodes[node].name);
    answer.stages.push_back(added);
  }
  return answer;
}

}  // namespace stagecraft
