#include "sim/job/step_memo.h"

#include <oneapi/tbb/task_arena.h>

#include "costmodel/check.h"

namespace stagecraft {

StepMemo::StepMemo(const StepFunction& step, const ReplanFunction& replan)
    : step_(step), replan_(replan) {}

template <typename Value, typename Function>
const Value& StepMemo::Look(Table<Value>& table, const Function& function,
                            const ClusterState& state, int network) {
  typename Table<Value>::Entry* entry = nullptr;
  {
    const std::lock_guard lock(table.mutex);
    auto& place = table.entries[{network, state}];
    if (place == nullptr) place = std::make_unique<typename Table<Value>::Entry>();
    entry = place.get();
  }
  std::call_once(entry->once, [&] {
    // A function that runs in parallel itself must not take up another history meanwhile, which may
    // wait for this very entry.
    tbb::this_task_arena::isolate([&] { entry->value = function(state, network); });
  });
  return entry->value;
}

const std::optional<RunningStep>& StepMemo::Step(const ClusterState& state, int network) {
  const std::optional<RunningStep>& step = Look(steps_, step_, state, network);
  CHECK(!step || step->time > Duration());
  return step;
}

const std::optional<Replanned>& StepMemo::Replan(const ClusterState& state, int network) {
  static const std::optional<Replanned> kNone;
  if (!replan_) return kNone;
  const std::optional<Replanned>& plan = Look(plans_, replan_, state, network);
  CHECK(!plan || (plan->step.time > Duration() && plan->move >= Duration()));
  return plan;
}

}  // namespace stagecraft
