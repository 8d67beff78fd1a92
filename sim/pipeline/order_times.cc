#include "sim/pipeline/order_times.h"

#include <algorithm>

#include "costmodel/check.h"
#include "sim/pipeline/pass_slots.h"

namespace stagecraft {
namespace {

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

class Replay {
 public:
  Replay(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches,
         const PipelineCosts& costs)
      : orders_(orders),
        costs_(costs),
        slots_(map, micro_batches),
        end_(slots_.size(), Duration::Nanoseconds(-1)),
        next_(orders.size(), 0),
        free_(orders.size()) {
    for (const PassOrder& order : orders) times_.passes.emplace_back(order.size());
  }

  OrderTimes Run() {
    std::vector<int> stages(orders_.size());
    for (size_t s = 0; s < stages.size(); ++s) stages[s] = static_cast<int>(s);
    // A stage runs on until it lacks something; who makes it calls the stage again.
    while (!stages.empty()) {
      const int stage = stages.back();
      stages.pop_back();
      while (RunNext(stage, stages)) {
      }
    }
    for (size_t s = 0; s < orders_.size(); ++s) {
      if (next_[s] < orders_[s].size()) throw InputError("the orders of the stages deadlock");
    }
    return std::move(times_);
  }

 private:
  // Whether the next pass, or pair, could run.
  bool RunNext(int stage, std::vector<int>& calls) {
    const PassOrder& order = orders_[stage];
    const size_t first = next_[stage];
    if (first == order.size()) return false;
    size_t last = first;
    while (order[last].beside_next && last + 1 < order.size()) ++last;
    Duration start = free_[stage];
    Duration length;
    for (size_t i = first; i <= last; ++i) {
      const Duration ready = Ready(stage, order[i]);
      if (ready < Duration()) return false;
      start = std::max(start, ready);
      length += TimeOf(costs_.times[stage][order[i].chunk], order[i].phase);
    }
    for (size_t i = first; i <= last; ++i) {
      times_.passes[stage][i] = {start, start + length};
      end_[slots_.Of(stage, order[i])] = start + length;
      const PassSlots::Located receiver = slots_.Receiver(stage, order[i]);
      if (receiver.stage >= 0) calls.push_back(receiver.stage);
    }
    free_[stage] = start + length;
    next_[stage] = last + 1;
    return true;
  }

  // When everything a pass waits for is there; below zero: not yet known.
  Duration Ready(int stage, const Pass& pass) const {
    Duration ready;
    if (pass.phase != Phase::kForward) {
      Pass own = pass;
      own.phase = pass.phase == Phase::kBackwardWeight ? Phase::kBackwardInput : Phase::kForward;
      ready = end_[slots_.Of(stage, own)];
    }
    const PassSlots::Located feeder = slots_.Feeder(stage, pass);
    if (feeder.stage < 0 || ready < Duration()) return ready;
    const Duration made = end_[slots_.Of(feeder.stage, feeder.pass)];
    if (made < Duration()) return made;
    return std::max(ready, made + costs_.Transfer(feeder.stage, stage));
  }

  const std::span<const PassOrder> orders_;
  const PipelineCosts& costs_;
  const PassSlots slots_;
  std::vector<Duration> end_;  // by slot; below zero: has not run
  std::vector<size_t> next_;   // by stage: into its order
  std::vector<Duration> free_;
  OrderTimes times_;
};

}  // namespace

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
  return Replay(map, orders, micro_batches, costs).Run();
}

}  // namespace stagecraft
