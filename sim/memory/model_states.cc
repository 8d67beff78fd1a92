#include "sim/memory/model_states.h"

#include <algorithm>

#include "costmodel/divide.h"
#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
StateSharing SharingOf(const Plan& plan, const Workload& workload, int stage,
                       const FrameworkMemory& framework) {
  const Stage& s = plan.stages[stage];
  const auto peers = static_cast<int64_t>(MapOf(plan).Peers(stage).size());
  const auto holders_of_expert = [&](int64_t ranks) {
    return std::max<int64_t>(1, ranks / s.expert_parallel);
  };
  StateSharing sharing;
  sharing.zero = plan.zero;
  sharing.holders = peers * static_cast<int64_t>(s.replicas.size()) * s.context_parallel;
  sharing.expert_holders = holders_of_expert(sharing.holders);
  sharing.ranks = plan.zero_group > 0 ? plan.zero_group : sharing.holders;
  sharing.experts = holders_of_expert(sharing.ranks);
  sharing.working = plan.WorkingBytes();
  sharing.gradient = plan.forward_only ? 0 : plan.gradient_bytes;
  const bool has_wide_weights =
      framework.casts_weights || (framework.wraps_layers && plan.zero >= 3);
  sharing.has_wide_weights =
      has_wide_weights && sharing.working < kMasterBytes && !plan.offload.optimizer;
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
  const int64_t weight = sharing.has_wide_weights ? kMasterBytes : sharing.working;
  ModelStates states{.weights = Bytes(weights * weight * sharing.versions),
                     .gradients = Bytes(gradients * sharing.gradient),
                     .optimizer = Bytes()};
  if (!sharing.updates) return states;
  states.optimizer = OptimizerStates(sharing.optimizer, sharing.working, updated);
  if (sharing.has_wide_weights) states.optimizer = states.optimizer - Bytes(updated * kMasterBytes);
  return states;
}

}  // namespace stagecraft
