#include "sim/shard/optimizer_op.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// How often a number of 32 bits is read or written for each parameter if every operation of the
// update is a kernel of its own, as in torch.optim. Adam: decay of the parameter 2, first moment 3,
// second moment 2 and 3, its root 2, correction 2, epsilon 2, step 4. SGD: decay 3, momentum 2 and
// 3, step 3, which is all without momentum. Returns 0 for optimizers that are always fused.
int OperationsAccesses(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdam:
      return 20;
    case Optimizer::kSgd:
      return 11;
    case Optimizer::kPlainSgd:
      return 3;
    default:
      return 0;
  }
}

// Bytes that the optimizer moves for this many parameters: the gradient is read for its norm and
// again for the update; master copy and moments are read and written; a 16-bit working copy is
// written, and a 32-bit one is read and written in the master copy's place.
int64_t UpdateBytes(const Plan& plan, int64_t parameters) {
  const int64_t working = plan.WorkingBytes() == 4 ? 2 * 4 : plan.WorkingBytes();
  const int accesses = OperationsAccesses(plan.optimizer);
  if (plan.framework.updates_by_operations && accesses > 0) {
    const int64_t copy = plan.WorkingBytes() == 4 ? 0 : plan.WorkingBytes();
    return (plan.gradient_bytes + 4 * accesses + copy) * parameters;
  }
  return (2 * plan.gradient_bytes + working) * parameters +
         2 * OptimizerStates(plan.optimizer, plan.WorkingBytes(), parameters).count();
}

// Tensors per launch of a multi-tensor kernel (apex passes at most 110 tensor
// addresses with each launch), and tensors of a decoder block.
constexpr int kTensorsPerLaunch = 110;
constexpr int kTensorsPerLayer = 8;

}  // namespace

int64_t UpdatedParameters(const Plan& plan, int stage, const ParameterCount& parameters,
                          int64_t data_ranks) {
  if (plan.zero == 0) return parameters.Total();
  const int64_t shards = plan.zero_group > 0 ? plan.zero_group : data_ranks;
  const int64_t expert_shards = std::max<int64_t>(1, shards / plan.stages[stage].expert_parallel);
  return DivideUp(parameters.dense, shards) + DivideUp(parameters.expert, expert_shards);
}

Op OptimizerOp(const Plan& plan, int stage, const ParameterCount& parameters, int64_t data_ranks) {
  const int64_t own = UpdatedParameters(plan, stage, parameters, data_ranks);
  int layers = 0;
  for (const LayerRange& range : plan.stages[stage].chunks) layers += range.count;
  const int launches = 1 + layers * kTensorsPerLayer / kTensorsPerLaunch;
  // Every rank casts the parameters with which it computes once in each training step.
  const int64_t bytes = UpdateBytes(plan, own) + plan.CastOf(parameters.Total()).bytes.count();
  return Op::Optimizer(Bytes(bytes), launches);
}

}  // namespace stagecraft
