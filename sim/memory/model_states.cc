#include "sim/memory/model_states.h"

#include <algorithm>

#include "costmodel/divide.h"
#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
StateSharing SharingOf(const Plan& plan, const Workload& workload, int stage) {
  const Stage& s = plan.stages[stage];
  const auto peers = static_cast<int64_t>(MapOf(plan).Peers(stage).size());
  const int64_t ranks = peers * static_cast<int64_t>(s.replicas.size()) * s.context_parallel;
  StateSharing sharing;
  sharing.zero = plan.zero;
  sharing.ranks = plan.zero_group > 0 ? plan.zero_group : ranks;
  sharing.experts = std::max<int64_t>(1, sharing.ranks / s.expert_parallel);
  sharing.working = plan.WorkingBytes();
  sharing.gradient = plan.forward_only ? 0 : plan.gradient_bytes;
  sharing.optimizer = plan.optimizer;
  sharing.updates = !plan.forward_only;
  if (IsAsynchronous(plan.schedule)) {
    const StageAsynchrony asynchrony = AsynchronyOf(plan, workload, stage);
    sharing.versions = asynchrony.versions;
    sharing.gradient *= asynchrony.gradients;
  }
  return sharing;
}

int64_t OwnParameters(const ParameterCount& parameters, const StateSharing& sharing,
                      int from_zero) {
  if (sharing.zero < from_zero) return parameters.Total();
  return DivideUp(parameters.dense, sharing.ranks) + DivideUp(parameters.expert, sharing.experts);
}

ModelStates ShareOut(const ParameterCount& parameters, const ParameterCount& trained,
                     const StateSharing& sharing) {
  const int64_t weights = OwnParameters(parameters, sharing, 3);
  const int64_t gradients = OwnParameters(trained, sharing, 2);
  const int64_t updated = OwnParameters(trained, sharing, 1);
  return {.weights = Bytes(weights * sharing.working * sharing.versions),
          .gradients = Bytes(gradients * sharing.gradient),
          .optimizer = sharing.updates
                           ? OptimizerStates(sharing.optimizer, sharing.working, updated)
                           : Bytes()};
}

}  // namespace stagecraft
