#include "sim/shard/optimizer_op.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Bytes that the optimizer moves for this many parameters: the gradient is read for its norm and
// again for the update; master copy and moments are read and written; a 16-bit working copy is
// written, and a 32-bit one is read and written in the master copy's place.
int64_t UpdateBytes(const Plan& plan, int64_t parameters) {
  const int64_t working = plan.WorkingBytes() == 4 ? 2 * 4 : plan.WorkingBytes();
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
