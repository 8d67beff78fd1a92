#include "sim/lowering/lowering.h"

#include "sim/lowering/activation_lowering.h"
#include "sim/lowering/asynchronous_lowering.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/update_lowering.h"

namespace stagecraft {

Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options) {
  LoweringMemory memory(workload, cluster);
  return Lower(plan, workload, cluster, options, memory);
}

Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options, LoweringMemory& memory) {
  Schedule::Builder builder;
  const bool updates = options.with_optimizer && !plan.forward_only;
  LoweredPasses passes(plan, workload, memory, options.unfold, updates, builder);
  if (plan.offload.activations > 0) AddActivationCopies(plan, workload, cluster, passes, builder);
  if (updates && IsAsynchronous(plan.order)) {
    AddAsynchronousUpdates(plan, workload, cluster, passes, builder);
  } else if (updates || plan.zero >= 3) {
    AddUpdate(plan, workload, cluster, passes, builder);
  }
  return builder.Build();
}

}  // namespace stagecraft
