#include "sim/lowering/lowering.h"

#include "sim/lowering/activation_lowering.h"
#include "sim/lowering/asynchronous_lowering.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/lowering/update_lowering.h"
#include "sim/lowering/vocabulary_lowering.h"

namespace stagecraft {

Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options) {
  LoweringMemory memory(workload, cluster);
  return Lower(plan, workload, cluster, options, memory);
}

Schedule Lower(const Plan& plan, const Workload& workload, const Cluster& cluster,
               const LoweringOptions& options, LoweringMemory& memory) {
  LoweringContext context(plan, workload, cluster, options, memory);
  const LoweredPasses passes(context);
  if (plan.SplitsVocabulary()) AddVocabularyExchanges(context, passes);
  if (plan.offload.activations > 0) AddActivationCopies(context, passes, options.framework);
  if (context.updates && IsAsynchronous(plan.schedule)) {
    AddAsynchronousUpdates(context, passes);
  } else if (context.updates || plan.zero >= 3) {
    AddUpdate(context, passes);
  }
  return context.builder.Build();
}

}  // namespace stagecraft
