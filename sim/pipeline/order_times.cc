#include "sim/pipeline/order_times.h"

#include <algorithm>
#include <string>

#include "costmodel/check.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_walk.h"
#include "sim/pipeline/pass_slots.h"

namespace stagecraft {
namespace {

// The ends of passes, as far as they have run.
class Clock {
 public:
  Clock(const PassSlots& slots, const PipelineCosts& costs)
      : slots_(slots), costs_(costs), end_(slots.size()), free_(slots.map().stages()) {}

  PassSpan Run(const PassOrder& order, const PassRun& run) {
    Duration start = free_[run.stage];
    Duration length;
    for (size_t i = run.first; i <= run.last; ++i) {
      start = std::max(start, Ready(run.stage, order[i]));
      length += TimeOf(costs_.times[run.stage][order[i].chunk], order[i].phase);
    }
    if (run.last > run.first) length = costs_.Beside(length);
    const Duration end = start + length;
    for (size_t i = run.first; i <= run.last; ++i) end_[slots_.Of(run.stage, order[i])] = end;
    free_[run.stage] = end;
    return {start, end};
  }

 private:
  // When everything that a pass waits for is there.
  Duration Ready(int stage, const Pass& pass) const {
    Duration ready;
    if (pass.phase == Phase::kBackwardWeight) {
      return end_[slots_.Of(stage, {Phase::kBackwardInput, pass.chunk, pass.micro_batch})];
    }
    if (pass.phase != Phase::kForward) {
      ready = end_[slots_.Of(stage, {Phase::kForward, pass.chunk, pass.micro_batch})];
    }
    const PassSlots::Located feeder = slots_.Feeder(stage, pass);
    if (feeder.stage < 0) return ready;
    return std::max(
        ready, end_[slots_.Of(feeder.stage, feeder.pass)] + costs_.Transfer(feeder.stage, stage));
  }

  const PassSlots& slots_;
  const PipelineCosts& costs_;
  std::vector<Duration> end_;   // by slot
  std::vector<Duration> free_;  // by stage
};

// Returns why the orders stop before their end.
std::string StopReason(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches) {
  bool forward_only = true;
  for (const PassOrder& order : orders) {
    for (const Pass& pass : order) forward_only = forward_only && pass.phase == Phase::kForward;
  }
  return FindOrderError(map, orders, micro_batches, forward_only).value();
}

}  // namespace

Duration TimeOf(const PassTimes& times, Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return times.forward;
    case Phase::kBackwardInput:
      return times.backward_input;
    case Phase::kBackwardWeight:
      return times.backward_weight;
    default:
      return times.Backward();
  }
}

Duration OrderTimes::Makespan() const {
  Duration latest;
  for (const auto& stage : passes) {
    if (!stage.empty()) latest = std::max(latest, stage.back().end);
  }
  return latest;
}

Duration OrderTimes::LongestStage() const {
  Duration longest;
  for (const auto& stage : passes) {
    if (!stage.empty()) longest = std::max(longest, stage.back().end - stage.front().start);
  }
  return longest;
}

OrderTimes TimeOrders(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches,
                      const PipelineCosts& costs) {
  const PassSlots slots(map, micro_batches);
  const OrderWalk walk = WalkOrders(slots, orders);
  OrderTimes times;
  for (size_t stage = 0; stage < orders.size(); ++stage) {
    if (walk.next[stage] < orders[stage].size()) {
      throw InputError(StopReason(map, orders, micro_batches));
    }
    times.passes.emplace_back(orders[stage].size());
  }
  Clock clock(slots, costs);
  for (const PassRun& run : walk.runs) {
    const PassSpan span = clock.Run(orders[run.stage], run);
    for (size_t i = run.first; i <= run.last; ++i) times.passes[run.stage][i] = span;
  }
  return times;
}

}  // namespace stagecraft
