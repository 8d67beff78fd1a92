#include "search/training/job.h"

#include <fmt/core.h>

#include "costmodel/check.h"
#include "sim/workload/layer_state.h"

namespace stagecraft {

int Job::states() const {
  const bool starts_as_in_file = changes.empty() || changes.front().step > 0;
  return static_cast<int>(changes.size()) + (starts_as_in_file ? 1 : 0);
}

const NetworkChange* Job::ChangeTo(int state) const {
  CHECK(state >= 0 && state < states());
  const int before = states() - static_cast<int>(changes.size());
  return state < before ? nullptr : &changes[state - before];
}

int64_t Job::FirstStep(int state) const {
  if (state == states()) return steps;
  const NetworkChange* change = ChangeTo(state);
  return change == nullptr ? 0 : change->step;
}

Workload Job::NetworkIn(int state) const {
  Workload network = workload;
  if (const NetworkChange* change = ChangeTo(state)) {
    ApplyLayerStates(fmt::format("the network from step {} on", change->step), change->states,
                     network);
  }
  return network;
}

}  // namespace stagecraft
