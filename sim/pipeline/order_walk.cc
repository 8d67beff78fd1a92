#include "sim/pipeline/order_walk.h"

#include <numeric>

namespace stagecraft {
namespace {

bool CanRun(const PassSlots& slots, const PassOrder& order, const PassRun& run,
            std::span<const char> ran) {
  for (size_t i = run.first; i <= run.last; ++i) {
    if (FirstUnmet(slots, run.stage, order[i], ran).stage >= 0) return false;
  }
  return true;
}

}  // namespace

PassRun RunAt(std::span<const PassOrder> orders, int stage, size_t first) {
  const PassOrder& order = orders[stage];
  PassRun run{stage, first, first};
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
  walk.runs.reserve(slots.size());
  std::vector<int> calls(orders.size());
  std::iota(calls.begin(), calls.end(), 0);
  // A stage runs on until it lacks something; who makes it calls the stage again.
  while (!calls.empty()) {
    const int stage = calls.back();
    calls.pop_back();
    while (walk.next[stage] < orders[stage].size()) {
      const PassRun run = RunAt(orders, stage, walk.next[stage]);
      if (!CanRun(slots, orders[stage], run, walk.ran)) break;
      for (size_t i = run.first; i <= run.last; ++i) {
        walk.ran[slots.Of(stage, orders[stage][i])] = 1;
        const PassSlots::Located receiver = slots.Receiver(stage, orders[stage][i]);
        if (receiver.stage >= 0) calls.push_back(receiver.stage);
      }
      walk.runs.push_back(run);
      walk.next[stage] = run.last + 1;
    }
  }
  return walk;
}

}  // namespace stagecraft
