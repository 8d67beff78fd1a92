#include "sim/lowering/traffic_rules.h"

namespace stagecraft {

TrafficRules::TrafficRules(const Plan& plan, bool updates) : plan_(plan), updates_(updates) {
  const ChunkMap map = MapOf(plan);
  for (int stage = 0; stage < map.stages(); ++stage) {
    const Stage& s = plan.stages[stage];
    const auto peers = static_cast<int64_t>(map.Peers(stage).size());
    data_ranks_.push_back(peers * static_cast<int64_t>(s.replicas.size()) * s.context_parallel);
  }
}

bool TrafficRules::OverlapsReduction(int stage) const {
  return updates_ && plan_.overlap_grad_reduce && plan_.zero < 2 && DataRanks(stage) > 1;
}

bool TrafficRules::ReducesEveryPass(int stage) const {
  return updates_ && plan_.zero >= 2 && DataRanks(stage) > 1;
}

bool TrafficRules::OverlapsGather(int stage) const {
  return updates_ && plan_.overlap_param_gather && (plan_.zero == 1 || plan_.zero == 2) &&
         DataRanks(stage) > 1;
}

bool TrafficRules::GathersEveryPass(int stage) const {
  return plan_.zero >= 3 && DataRanks(stage) > 1;
}

bool TrafficRules::DividesSome(int stage, Phase phase) const {
  if (GathersEveryPass(stage) && phase != Phase::kBackwardWeight) return true;
  if (phase == Phase::kForward) return OverlapsGather(stage);
  return MakesWeightGradients(phase) && (OverlapsReduction(stage) || ReducesEveryPass(stage));
}

}  // namespace stagecraft
