#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "search/partition/partition_check.h"

namespace stagecraft {
namespace {

double SyncBytes(const std::map<int, double>& sync, int node) {
  const auto found = sync.find(node);
  return found == sync.end() ? 0 : found->second;
}

// What one device does for its stage.
struct StageLoad {
  double time_s = 0;
  double memory_bytes = 0;
};

StageLoad LoadOf(const PiperProblem& problem, const PiperOptions& options, const PiperStage& stage,
                 int in_flight, std::vector<std::string>& errors) {
  StageLoad load;
  double bytes = 0;  // sent and received per micro-batch of the step
  const double d = stage.replicas;
  const std::vector<int> members = Members(stage.nodes);
  for (size_t n = 0; n < members.size(); ++n) {
    const int node = members[n];
    const auto modes = problem.nodes[node].modes.find(stage.tensor);
    if (modes == problem.nodes[node].modes.end() || n >= stage.modes.size() ||
        stage.modes[n] >= static_cast<int>(modes->second.size()) ||
        (!options.recompute && stage.modes[n] > 0)) {
      errors.push_back(
          fmt::format("node {} has no such mode at tensor degree {}", node, stage.tensor));
      continue;
    }
    const PiperMode& mode = modes->second[stage.modes[n]];
    load.time_s += mode.time_s / d;
    load.memory_bytes += mode.bytes_per_micro_batch * in_flight + mode.fixed_bytes;
    bytes += 4 * (d - 1) * mode.parameters_bytes / (d * options.micro_batches);
    for (const auto& [edge, amount] : problem.edge_bytes) {
      if (edge.to == node && !stage.nodes.test(edge.from)) {
        bytes += 2 * (amount + SyncBytes(mode.input_sync_bytes, edge.from)) / d;
      }
      if (edge.from == node && !stage.nodes.test(edge.to)) {
        bytes += 2 * (amount + SyncBytes(mode.output_sync_bytes, edge.to)) / d;
      }
    }
  }
  load.time_s += bytes / options.bandwidth_bytes_per_s;
  return load;
}

}  // namespace

PartitionCheck CheckPiper(const PiperProblem& problem, const PiperOptions& options,
                          const PiperPartition& partition) {
  PartitionCheck check;
  std::vector<NodeSet> stages;
  int devices = 0;
  int replicas = 0;  // of this stage and all stages behind it
  for (const PiperStage& stage : partition.stages) {
    stages.push_back(stage.nodes);
    devices += stage.replicas * stage.tensor;
    replicas += stage.replicas;
    if (stage.replicas < 1 || options.micro_batches % stage.replicas != 0 ||
        (!options.data_parallel && stage.replicas > 1) ||
        (!options.tensor_parallel && stage.tensor > 1)) {
      check.errors.push_back(
          fmt::format("a stage has {} replicas of tensor degree {}", stage.replicas, stage.tensor));
    }
  }
  CheckStageOrder(problem.dag, stages, check.errors);
  if (devices > options.devices) {
    check.errors.push_back(fmt::format("takes {} devices of {}", devices, options.devices));
  }
  for (const PiperStage& stage : partition.stages) {
    const int in_flight = (replicas + stage.replicas - 1) / stage.replicas;
    replicas -= stage.replicas;
    const StageLoad load = LoadOf(problem, options, stage, in_flight, check.errors);
    check.objective = std::max(check.objective, load.time_s);
    if (load.memory_bytes > options.memory_bytes) {
      check.errors.push_back(
          fmt::format("a stage needs {} bytes, has {}", load.memory_bytes, options.memory_bytes));
    }
  }
  return check;
}

}  // namespace stagecraft
