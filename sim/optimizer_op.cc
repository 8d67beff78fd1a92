#include "sim/optimizer_op.h"

#include <algorithm>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// Bytes an optimizer step moves per parameter: the gradient is read for its
// norm and again for the update; master copy and moments are read and written;
// a 16-bit working copy is written, a 32-bit one is the master copy itself.
int64_t UpdateBytes(const Plan& plan) {
  const int64_t tensors = plan.optimizer == Optimizer::kAdam ? 3 : 2;
  const int64_t states = 2 * 4 * tensors;
  const int64_t working = plan.WorkingBytes() == 4 ? 0 : plan.WorkingBytes();
  return 2 * plan.gradient_bytes + states + working;
}

// Tensors per launch of a multi-tensor kernel (apex passes at most 110 tensor
// addresses with each launch), and tensors of a decoder block.
constexpr int kTensorsPerLaunch = 110;
constexpr int kTensorsPerLayer = 8;

}  // namespace

Op OptimizerOp(const Plan& plan, int stage, const ParameterCount& parameters, int64_t data_ranks) {
  const Stage& s = plan.stages[stage];
  const int64_t shards = plan.zero_group > 0 ? plan.zero_group : data_ranks;
  const int64_t expert_shards = std::max<int64_t>(1, shards / s.expert_parallel);
  const int64_t own = plan.zero == 0 ? parameters.Total()
                                     : DivideUp(parameters.dense, shards) +
                                           DivideUp(parameters.expert, expert_shards);
  int layers = 0;
  for (const LayerRange& range : s.chunks) layers += range.count;
  const int launches = 1 + layers * kTensorsPerLayer / kTensorsPerLaunch;
  // Every rank casts the parameters it computes with once a step.
  const int64_t bytes = own * UpdateBytes(plan) + plan.CastBytes(parameters.Total()).count();
  return Op::Optimizer(Bytes(bytes), launches);
}

}  // namespace stagecraft
