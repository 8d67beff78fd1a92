#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "costmodel/check.h"
#include "search/partition/antichain_states.h"
#include "search/partition/dag.h"
#include "search/partition/partition_check.h"
#include "search/partition/pipedream.h"
#include "search/partition/stop_sign.h"
#include "search/partition/timed_graph.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/profiled_states.h"

namespace stagecraft {
namespace {

PipeDreamOptions OptionsOf(const PartitionRequest& request) {
  if (request.machines.empty()) {
    throw InputError("--machines: got nothing, want machines by level, such as 4,4");
  }
  PipeDreamOptions options;
  for (size_t level = 0; level < request.machines.size(); ++level) {
    options.levels.push_back(
        {request.machines[level], Bandwidth(request.bandwidth_bytes_per_s[level])});
  }
  if (request.algorithm == "pipedream-paper") options.rule = PipeDreamRule::kPaper;
  if (request.count_activations) options.activation_compression = 1.0;
  options.straight = request.straight || !request.data_parallel;
  if (request.memory_bytes) options.memory = Bytes(std::llround(*request.memory_bytes));
  options.use_fewer_machines = request.use_fewer_machines;
  return options;
}

// Returns the time of all work divided equally among all machines, which no partition beats.
double LeastSeconds(const AntichainStates& states, const std::vector<MachineLevel>& levels) {
  double seconds = states.states.back().compute.seconds();
  for (const MachineLevel& level : levels) seconds /= level.machines;
  return seconds;
}

// Adds the stages of the innermost level. `copies` is the number of replicas of the stage that has
// `stages` inside.
void AddStages(const TimedGraph& graph, const std::vector<PipeDreamStage>& stages, int copies,
               PartitionAnswer& answer) {
  for (const PipeDreamStage& stage : stages) {
    const int replicas = copies * stage.replicas;
    if (!stage.inside.empty()) {
      AddStages(graph, stage.inside, replicas, answer);
      continue;
    }
    PartitionedStage added;
    added.nodes = NamesOf(graph, stage.nodes);
    added.replicas = replicas;
    for (const int node : Members(stage.nodes)) {
      const TimedNode& timed = graph.nodes[node];
      added.time_s += timed.compute().seconds() / replicas;
      added.memory_bytes += static_cast<double>((timed.activation + timed.parameters).count());
    }
    answer.stages.push_back(added);
  }
}

std::string MemoryObstacle(const TimedGraph& graph, Bytes memory) {
  const auto largest = std::max_element(
      graph.nodes.begin(), graph.nodes.end(), [](const TimedNode& a, const TimedNode& b) {
        return a.activation + a.parameters < b.activation + b.parameters;
      });
  return fmt::format(
      "memory: every partition has a stage that keeps more than {:.3g} GB of parameters and "
      "activations; node {} alone has {:.3g} GB",
      static_cast<double>(memory.count()) / 1e9, largest->name,
      static_cast<double>((largest->activation + largest->parameters).count()) / 1e9);
}

// Whether there is a partition without the memory limit; no value if it is stopped before that is
// known.
std::optional<bool> FitsWithoutMemory(const AntichainStates& states, PipeDreamOptions options,
                                      const StopSign& stop) {
  if (!options.straight) return true;  // one stage, replicated on all machines
  options.memory.reset();
  try {
    return !std::isinf(SolvePipeDream(states, options, stop).bottleneck_s);
  } catch (const Stopped&) {
    return std::nullopt;
  }
}

// Returns why a problem that is known to have no partition has none.
std::string Obstacle(const TimedGraph& graph, const AntichainStates& states,
                     const PipeDreamOptions& options, const StopSign& stop) {
  const std::optional<bool> is_memory =
      options.memory ? FitsWithoutMemory(states, options, stop) : false;
  if (is_memory.value_or(false)) return MemoryObstacle(graph, *options.memory);
  int machines = 1;
  for (const MachineLevel& level : options.levels) machines *= level.machines;
  const std::string stages = fmt::format(
      "{} machines without replication need that many stages on every level, but the graph can be "
      "cut only at {} states",
      machines, states.size());
  if (is_memory) return "machines: " + stages;
  return fmt::format(
      "memory or machines: {:.3g} GB may be too little, or {}; the search ended before it was "
      "known which",
      static_cast<double>(options.memory->count()) / 1e9, stages);
}

}  // namespace

PartitionAnswer PartitionByPipeDream(const PartitionRequest& request) {
  return PartitionByPipeDream(request, StopSign(request.budget));
}

PartitionAnswer PartitionByPipeDream(const PartitionRequest& request, const StopSign& stop) {
  const PipeDreamOptions options = OptionsOf(request);
  PartitionAnswer answer;
  const auto [graph, states] = ReadProfiledStates(request, stop, answer);
  answer.dp_time_s = DataParallelSeconds(states, options.levels);
  PipeDreamPartition partition;
  try {
    partition = SolvePipeDream(states, options, stop);
  } catch (const Stopped&) {
    answer.is_cut_short = true;
    answer.bound_s = LeastSeconds(states, options.levels);
    return answer;
  }
  if (std::isinf(partition.bottleneck_s)) {
    answer.obstacle = Obstacle(graph, states, options, stop);
    return answer;
  }
  const PartitionCheck check = CheckPipeDream(graph, options, partition);
  CHECK(check.errors.empty());
  answer.bottleneck_s = partition.bottleneck_s;
  answer.bound_s = partition.bottleneck_s;
  AddStages(graph, partition.stages, 1, answer);
  return answer;
}

}  // namespace stagecraft
