#include "tools/frameworks/framework_defaults.h"

#include <fmt/format.h>

#include <cmath>

#include "costmodel/check.h"
#include "sim/plan/framework_proto.h"
#include "sim/workload/limits.h"
#include "tools/stacks/stack_table.h"

namespace stagecraft {

void TakeStackHabits(const std::string& stack, const TrainingWishes& wishes,
                     ImportedTraining& training) {
  const StackDefaults* const habits = StackTable::Embedded().Find(stack, wishes.software_date);
  CHECK(habits != nullptr);
  training.stack = stack;
  FrameworkProto framework = FrameworkToProto(habits->framework);
  // What the options said already stays.
  framework.MergeFrom(training.plan.framework());
  *training.plan.mutable_framework() = framework;
}

void TakeDataParallelism(const std::string& file, const TrainingWishes& wishes,
                         ImportedTraining& training) {
  DegreesProto& degrees = *training.plan.mutable_degrees();
  const int64_t started = training.processes.Total();
  const int64_t model = static_cast<int64_t>(degrees.tp()) * degrees.cp() * degrees.pp();
  if (wishes.cluster != nullptr) {
    const int devices = wishes.cluster->device_count();
    if (started > 0 && started != devices) {
      throw InputError(fmt::format("{}: starts {} nodes x {} processes = {}, but {} has {} devices",
                                   file, training.processes.nodes, training.processes.per_node,
                                   started, wishes.cluster->name(), devices));
    }
  }
  const int64_t world = started > 0                 ? started
                        : wishes.cluster != nullptr ? wishes.cluster->device_count()
                                                    : 0;
  if (world == 0) return;
  if (world % model != 0) {
    throw InputError(fmt::format("{}: tp {} x cp {} x pp {} = {} does not divide the {} processes",
                                 file, degrees.tp(), degrees.cp(), degrees.pp(), model, world));
  }
  const int64_t data_ranks = world / model * degrees.cp();
  if (data_ranks > kMostOfADegree) {
    throw InputError(
        fmt::format("{}: {} processes give dp {}{}, want at most {}", file, world, world / model,
                    degrees.cp() > 1 ? fmt::format(" x cp {}", degrees.cp()) : "", kMostOfADegree));
  }
  degrees.set_dp(static_cast<int32_t>(world / model));
  if (data_ranks % degrees.ep() != 0) {
    throw InputError(fmt::format("{}: expert parallel {} does not divide dp {} x cp {}", file,
                                 degrees.ep(), degrees.dp(), degrees.cp()));
  }
}

int64_t GlobalBatch(const std::string& file, int64_t micro_batch, int64_t steps, int64_t replicas) {
  if (steps > kMostOfABatch / micro_batch || replicas > kMostOfABatch / (micro_batch * steps)) {
    throw InputError(fmt::format(
        "{}: got a global batch of micro-batch {} x {} accumulation steps x dp {}, want at most {}",
        file, micro_batch, steps, replicas, kMostOfABatch));
  }
  return micro_batch * steps * replicas;
}

int64_t DataRanks(const PlanProto& plan) {
  const DegreesProto& degrees = plan.degrees();
  return degrees.has_dp() ? static_cast<int64_t>(degrees.dp()) * degrees.cp() : 0;
}

void TakeOptimizerOffload(const std::string& place, const TrainingWishes& wishes, PlanProto& plan) {
  if (!(wishes.host_memory_gib > 0)) {
    throw InputError(place +
                     ": keeps states in host memory, whose size is not said, want "
                     "--host-memory-gib N");
  }
  plan.set_offload_optimizer(true);
  plan.set_host_memory_bytes(std::llround(wishes.host_memory_gib * (1 << 30)));
}

}  // namespace stagecraft
