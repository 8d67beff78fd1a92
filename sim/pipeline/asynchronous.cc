#include "sim/pipeline/asynchronous.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Replicas of a stage and all behind it.
int ReplicasFrom(std::span<const int> replicas, int stage) {
  return std::accumulate(replicas.begin() + stage, replicas.end(), 0);
}

int Warmup(std::span<const int> replicas, int stage) {
  return static_cast<int>(DivideUp(ReplicasFrom(replicas, stage), replicas[stage])) - 1;
}

// Of the weights that mini-batch b, counted over all replicas, uses.
int VersionOf(std::span<const int> replicas, int stage, int b, WeightSync sync) {
  const int source = sync == WeightSync::kVertical ? 0 : stage;
  const int updates = std::max(b / replicas[source] - Warmup(replicas, source), 0);
  return updates * replicas[source] / replicas[stage];
}

EndlessOrder FromPasses(PassOrder passes) {
  EndlessOrder order;
  order.versions.reserve(passes.size());
  order.passes = std::move(passes);
  return order;
}

}  // namespace

int MiniBatchesUnderWay(std::span<const int> replicas) {
  return static_cast<int>(DivideUp(ReplicasFrom(replicas, 0), replicas[0]));
}

StageAsynchrony AsynchronyOf(std::span<const int> replicas, int stage, WeightSync sync) {
  StageAsynchrony result;
  result.warmup = Warmup(replicas, stage);
  // Rounds of this stage and of the first begin together after as many mini-batches;
  // by then every stage has warmed up.
  const int cycle = replicas[0] * replicas[stage];
  const int start = cycle * (Warmup(replicas, 0) + 1);
  for (int b = start; b < start + cycle; ++b) {
    const int late = b / replicas[stage] - VersionOf(replicas, stage, b, sync);
    result.staleness = std::max(result.staleness, late);
  }
  // From the one a mini-batch meets to the newest at its backward.
  result.versions = result.staleness + 1;
  return result;
}

Duration SteadyPeriod(std::span<const PassTimes> stages, std::span<const int> replicas) {
  CHECK(stages.size() == replicas.size());
  Duration period;
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    const Duration both = stages[stage].forward + stages[stage].Backward();
    period = std::max(period, Duration::Nanoseconds(DivideUp(both.ns(), replicas[stage])));
  }
  return period;
}

EndlessOrder PipeDreamOrder(std::span<const int> replicas, int stage, int replica, int mini_batches,
                            WeightSync sync) {
  const int own = static_cast<int>(DivideUp(std::max(mini_batches - replica, 0), replicas[stage]));
  EndlessOrder order = FromPasses(OneForwardOneBackwardOrder(Warmup(replicas, stage), own));
  for (size_t i = 0; i < order.passes.size(); ++i) {
    const int b = order.passes[i].micro_batch * replicas[stage] + replica;
    order.versions.push_back(VersionOf(replicas, stage, b, sync));
    if (order.passes[i].phase == Phase::kBackward) order.updates.push_back(static_cast<int>(i));
  }
  return order;
}

EndlessOrder DoubleBufferedOrder(int warmup, int micro_batches, int batches) {
  CHECK(warmup <= micro_batches);
  EndlessOrder order = FromPasses(OneForwardOneBackwardOrder(warmup, micro_batches * batches));
  for (size_t i = 0; i < order.passes.size(); ++i) {
    const Pass& pass = order.passes[i];
    order.versions.push_back(std::max(pass.micro_batch / micro_batches - 1, 0));
    const bool ends_batch = (pass.micro_batch + 1) % micro_batches == 0;
    if (pass.phase == Phase::kBackward && ends_batch) order.updates.push_back(static_cast<int>(i));
  }
  return order;
}

}  // namespace stagecraft
