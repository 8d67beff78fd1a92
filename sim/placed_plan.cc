#include "sim/placed_plan.h"

#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/recomputed_layers.h"

namespace stagecraft {

Plan MakePlanOn(std::span<const int> devices, const PlanDegrees& degrees, const Workload& workload,
                const Cluster& cluster) {
  const PlanDegrees d = ResolveDegrees(degrees, cluster);
  CHECK(d.stage_replicas.empty());
  Plan plan;
  static_cast<StepOptions&>(plan) = d;
  plan.sequence_parallel = d.sequence_parallel != 0;
  plan.zero = d.zero;
  plan.gradient_bytes = d.gradient_bytes;
  plan.stages.resize(d.pipeline);
  PlaceLayers(PartLayers(d, workload), ChunkMap(PlacementOf(d), d.pipeline, d.chunks), plan);
  for (int pp = 0; pp < d.pipeline; ++pp) {
    Stage& stage = plan.stages[pp];
    stage.tensor_parallel = d.tensor;
    stage.context_parallel = d.context;
    stage.expert_parallel = d.expert;
    stage.replica_micro_batches = d.replica_micro_batches;
    for (int dp = 0; dp < d.data; ++dp) {
      std::vector<int>& replica = stage.replicas.emplace_back(PlacedDevices(d, pp, dp));
      for (int& rank : replica) rank = devices[rank];
    }
  }
  ChooseRecomputedLayers(d, workload, plan);
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  if (!errors.empty()) throw InputError(errors[0]);
  return plan;
}

}  // namespace stagecraft
