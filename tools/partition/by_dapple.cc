#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "search/partition/check_planners.h"
#include "search/partition/dapple.h"
#include "search/partition/stop_sign.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/profiled_states.h"

namespace stagecraft {
namespace {

// The most sets of GPUs in use, told apart by how many GPUs of each server are in use. With more,
// there would be millions of subproblems.
constexpr double kMostOccupancies = 5000;

DappleOptions OptionsOf(const PartitionRequest& request) {
  const std::vector<int>& machines = request.machines;
  if (machines.size() != 2 || std::pow(machines[0] + 1, machines[1]) > kMostOccupancies) {
    throw InputError(
        fmt::format("--machines: got '{}', want GPUs per server and servers, such as 8,2, from "
                    "which at most {} sets of GPUs can be taken",
                    fmt::join(machines, ","), kMostOccupancies));
  }
  DappleOptions options;
  options.devices_per_machine = machines[0];
  options.machines = machines[1];
  options.inside = Bandwidth(request.bandwidth_bytes_per_s[0]);
  options.between = Bandwidth(request.bandwidth_bytes_per_s[1]);
  options.between_collective = options.between;
  options.micro_batches = request.micro_batches.value_or(4 * machines[0] * machines[1]);
  if (request.memory_bytes) options.memory = Bytes(std::llround(*request.memory_bytes));
  return options;
}

}  // namespace

PartitionAnswer PartitionByDapple(const PartitionRequest& request) {
  const DappleOptions options = OptionsOf(request);
  const StopSign stop(request.budget);
  PartitionAnswer answer;
  const ProfiledStates profile = ReadProfiledStates(request, stop, answer);
  const auto plan = SolveDapple(profile.states, options, stop);
  if (!plan) {
    answer.obstacle = fmt::format(
        "memory: every plan found has a stage that keeps more than {:.3g} GB of parameters and "
        "activations",
        static_cast<double>(options.memory->count()) / 1e9);
    return answer;
  }
  CHECK(CheckDapple(profile.graph, options, *plan).errors.empty());
  answer.is_cut_short = stop.was_obeyed();
  answer.latency_s = plan->step_s;
  answer.bound_s = LeastDappleStepSeconds(profile.states, options);
  answer.dp_time_s = plan->data_parallel_s;
  double slowest_s = 0;
  for (const DappleStage& stage : plan->stages) {
    PartitionedStage added;
    added.nodes = NamesOf(profile.graph, stage.nodes);
    added.replicas = static_cast<int>(stage.devices.size());
    added.time_s = stage.block.forward_s + stage.block.backward_s;
    added.memory_bytes = stage.memory_bytes;
    added.place = fmt::format("GPUs {}", fmt::join(stage.devices, " "));
    slowest_s = std::max({slowest_s, added.time_s, 2 * stage.transfer_s});
    answer.stages.push_back(added);
  }
  answer.bottleneck_s = slowest_s;
  return answer;
}

}  // namespace stagecraft
