#include "sim/pipeline/asynchronous.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Replicas of a stage and of all stages after it.
int ReplicasFrom(std::span<const int> replicas, int stage) {
  return std::accumulate(replicas.begin() + stage, replicas.end(), 0);
}

int Warmup(std::span<const int> replicas, int stage) {
  return static_cast<int>(DivideUp(ReplicasFrom(replicas, stage), replicas[stage])) - 1;
}

// The version of the weights that mini-batch b, counted over all replicas, uses.
int VersionOf(std::span<const int> replicas, int stage, int b, WeightSync sync) {
  const int source = sync == WeightSync::kVertical ? 0 : stage;
  const int updates = std::max(b / replicas[source] - Warmup(replicas, source), 0);
  return updates * replicas[source] / replicas[stage];
}

// Mini-batches that are simulated before the measurement, and measured at least, per mini-batch in
// flight.
constexpr int kSettling = 16;
// The most mini-batches that count as whole rounds; rounds of very different lengths seldom begin
// together.
constexpr int kMostMeasured = 16'384;

EndlessOrder FromPasses(PassOrder passes) {
  EndlessOrder order;
  order.versions.reserve(passes.size());
  order.passes = std::move(passes);
  return order;
}

}  // namespace

int MiniBatchesInFlight(std::span<const int> replicas) {
  return static_cast<int>(DivideUp(ReplicasFrom(replicas, 0), replicas[0]));
}

StageAsynchrony AsynchronyOf(std::span<const int> replicas, int stage, WeightSync sync) {
  StageAsynchrony result;
  result.warmup = Warmup(replicas, stage);
  // Rounds of this stage and of the first begin together again after this many mini-batches; by
  // `start` every stage has warmed up.
  const int cycle = replicas[0] * replicas[stage];
  const int start = cycle * (Warmup(replicas, 0) + 1);
  for (int b = start; b < start + cycle; ++b) {
    const int late = b / replicas[stage] - VersionOf(replicas, stage, b, sync);
    result.staleness = std::max(result.staleness, late);
  }
  // A stage keeps every version from the one that a mini-batch uses to the newest at its backward.
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
    const bool is_whole_round = b - replica + replicas[stage] <= mini_batches;
    if (order.passes[i].phase != Phase::kBackward || !is_whole_round) continue;
    order.updates.push_back({static_cast<int>(i), static_cast<int>(i)});
  }
  return order;
}

EndlessOrder DoubleBufferedOrder(int warmup, int micro_batches, int batches,
                                 BufferSwitch buffer_switch) {
  CHECK(warmup <= micro_batches);
  EndlessOrder order = FromPasses(OneForwardOneBackwardOrder(warmup, micro_batches * batches));
  std::vector<int> complete;  // by batch
  for (size_t i = 0; i < order.passes.size(); ++i) {
    const Pass& pass = order.passes[i];
    const int position = static_cast<int>(i);
    const int batch = pass.micro_batch / micro_batches;
    order.versions.push_back(std::max(batch - 1, 0));
    const bool begins = pass.phase == Phase::kForward && pass.micro_batch % micro_batches == 0;
    const bool ends = pass.phase == Phase::kBackward && (pass.micro_batch + 1) % micro_batches == 0;
    if (ends) complete.push_back(position);
    if (ends && buffer_switch == BufferSwitch::kAtOnce) {
      order.updates.push_back({position, position});
    }
    // Batch t is the first to use the gradients of batch t - 2.
    if (begins && batch >= 2 && buffer_switch == BufferSwitch::kWhenUsed) {
      order.updates.push_back({complete[batch - 2], position - 1});
    }
  }
  return order;
}

Stretch PipeDreamStretch(std::span<const int> replicas) {
  int64_t cycle = 1;
  int widest = 1;
  for (const int count : replicas) {
    cycle = std::min<int64_t>(std::lcm(cycle, int64_t{count}), kMostMeasured);
    widest = std::max(widest, count);
  }
  const int all = ReplicasFrom(replicas, 0);
  Stretch stretch;
  stretch.settle = kSettling * all;
  const int64_t half = DivideUp(stretch.settle / 2, cycle) * cycle;
  stretch.measured = static_cast<int>(2 * half);
  stretch.drain = all + widest;
  return stretch;
}

Stretch DoubleBufferedStretch(int stages, int pipelines, int micro_batches) {
  const int64_t in_flight = int64_t{stages} * pipelines;
  const auto half =
      static_cast<int>(std::max<int64_t>(1, DivideUp(kSettling * in_flight / 2, micro_batches)));
  return {2 * half * micro_batches, 2 * half * micro_batches, 2 * micro_batches};
}

}  // namespace stagecraft
