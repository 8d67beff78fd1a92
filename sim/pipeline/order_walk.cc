#include "sim/pipeline/order_walk.h"

#include <limits>
#include <numeric>

namespace stagecraft {
namespace {

// The slot of the first pass that a run waits for; kNothing if the run can start.
constexpr size_t kNothing = std::numeric_limits<size_t>::max();

size_t WaitsFor(const PassSlots& slots, const PassOrder& order, const PassRun& run,
                std::span<const char> ran) {
  for (size_t i = run.first; i <= run.last; ++i) {
    const PassSlots::Located unmet = FirstUnmet(slots, run.stage, order[i], ran);
    if (unmet.stage >= 0) return slots.Of(unmet.stage, unmet.pass);
  }
  return kNothing;
}

}  // namespace

PassRun RunAt(std::span<const PassOrder> orders, int stage, size_t first) {
  const PassOrder& order = orders[stage];
  PassRun run{stage, static_cast<uint32_t>(first), static_cast<uint32_t>(first)};
  while (order[run.last].beside_next && run.last + 1 < order.size()) ++run.last;
  return run;
}

PassSlots::Located FirstUnmet(const PassSlots& slots, int stage, const Pass& pass,
                              std::span<const char> ran) {
  if (pass.phase != Phase::kForward) {
    PassSlots::Located own{stage, pass};
    own.pass.phase = pass.phase == Phase::kBackwardWeight ? Phase::kBackwardInput : Phase::kForward;
    if (ran[slots.Of(stage, own.pass)] == 0) return own;
  }
  const PassSlots::Located feeder = slots.Feeder(stage, pass);
  if (feeder.stage >= 0 && ran[slots.Of(feeder.stage, feeder.pass)] == 0) return feeder;
  return {};
}

OrderWalk WalkOrders(const PassSlots& slots, std::span<const PassOrder> orders) {
  OrderWalk walk{{}, std::vector<size_t>(orders.size(), 0), std::vector<char>(slots.size(), 0)};
  walk.runs.reserve(slots.size() / PassSlots::kSlotsPerPlace * 2);
  std::vector<size_t> waits(orders.size(), kNothing);  // by stage
  std::vector<int> calls(orders.size());
  std::iota(calls.begin(), calls.end(), 0);
  // A stage runs until an input is missing; the pass that makes this input calls the stage again.
  while (!calls.empty()) {
    const int stage = calls.back();
    calls.pop_back();
    const PassOrder& order = orders[stage];
    while (walk.next[stage] < order.size()) {
      const PassRun run = RunAt(orders, stage, walk.next[stage]);
      waits[stage] = WaitsFor(slots, order, run, walk.ran);
      if (waits[stage] != kNothing) break;
      for (size_t i = run.first; i <= run.last; ++i) {
        const size_t slot = slots.Of(stage, order[i]);
        walk.ran[slot] = 1;
        const PassSlots::Located receiver = slots.Receiver(stage, order[i]);
        if (receiver.stage >= 0 && waits[receiver.stage] == slot) calls.push_back(receiver.stage);
      }
      walk.runs.push_back(run);
      walk.next[stage] = run.last + 1;
    }
  }
  return walk;
}

}  // namespace stagecraft
