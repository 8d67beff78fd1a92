#include <fmt/core.h>

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "search/partition/check_planners.h"
#include "search/partition/stop_sign.h"
#include "search/partition/two_buffer.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/profiled_states.h"

namespace stagecraft {
namespace {

TwoBufferOptions OptionsOf(const PartitionRequest& request) {
  TwoBufferOptions options;
  for (const int machines : request.machines) options.devices *= machines;
  if (request.devices) options.devices = *request.devices;
  if (request.bandwidth_bytes_per_s.empty()) {
    throw InputError("--bandwidth: got nothing, want bytes/s between any two devices");
  }
  options.bandwidth = Bandwidth(request.bandwidth_bytes_per_s.back());
  options.batch = request.micro_batches.value_or(4 * options.devices);
  if (request.memory_bytes) options.memory = Bytes(std::llround(*request.memory_bytes));
  return options;
}

}  // namespace

PartitionAnswer PartitionByTwoBuffer(const PartitionRequest& request) {
  const TwoBufferOptions options = OptionsOf(request);
  const StopSign stop(request.budget);
  PartitionAnswer answer;
  const ProfiledStates profile = ReadProfiledStates(request, stop, answer);
  RequireTime(profile, request.graph);
  const auto plan = SolveTwoBuffer(profile.states, options, stop);
  if (!plan) {
    answer.obstacle = fmt::format(
        "no depth that divides {} devices has stages that fit into memory and at least as many "
        "micro-batches as stages in a batch of {} minibatches",
        options.devices, options.batch);
    return answer;
  }
  CHECK(CheckTwoBuffer(profile.graph, options, *plan).errors.empty());
  answer.bottleneck_s = plan->period_s;
  answer.is_cut_short = stop.was_obeyed();
  answer.minibatches_per_s = plan->rate_per_s;
  // The rate with all devices busy all the time.
  answer.bound_minibatches_per_s = options.devices / profile.states.states.back().compute.seconds();
  answer.notes.push_back(
      fmt::format("depth {}, width {}, {} micro-batches of {} minibatches, {} recomputation",
                  plan->depth, plan->width, plan->micro_batches, plan->per_micro_batch,
                  plan->recompute ? "with" : "without"));
  for (const TwoBufferStage& stage : plan->stages) {
    PartitionedStage added;
    added.nodes = NamesOf(profile.graph, stage.nodes);
    added.replicas = plan->width;
    added.time_s = stage.time_s;
    added.memory_bytes = stage.memory_bytes;
    answer.stages.push_back(added);
  }
  return answer;
}

}  // namespace stagecraft
