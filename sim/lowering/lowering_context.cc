#include "sim/lowering/lowering_context.h"

namespace stagecraft {

LoweringContext::LoweringContext(const Plan& plan_in, const Workload& workload_in,
                                 const Cluster& cluster_in, const LoweringOptions& options,
                                 LoweringMemory& memory_in)
    : plan(plan_in),
      workload(workload_in),
      cluster(cluster_in),
      updates(options.with_optimizer && !plan_in.forward_only),
      memory(memory_in),
      placed(memory_in.Place(plan_in, options.unfold)),
      rules(plan_in, updates),
      buckets(plan_in, workload_in, rules),
      op_sequences(workload_in, memory_in.ops(), builder) {}

TaskId LoweringContext::AddTask(const Op& op, std::span<const Lane> lanes,
                                std::span<const TaskId> after, const Tag& tag) {
  const OpSequenceId op_sequence = op_sequences.SingleOp(op);
  return builder.Add(lanes, after, op_sequence, tag);
}

}  // namespace stagecraft
