#include "costmodel/analytical_model.h"

#include "costmodel/collective_model.h"

namespace stagecraft {

AnalyticalModel::AnalyticalModel(const NcclTuning& tuning, const KernelConstants& constants)
    : tuning_(tuning), constants_(constants) {}

std::vector<Estimate> AnalyticalModel::Predict(std::span<const Op> ops,
                                               const Device& device) const {
  std::vector<Estimate> estimates;
  estimates.reserve(ops.size());
  for (const Op& op : ops) {
    estimates.push_back(IsCollective(op.kind) ? PredictCollective(op, device, tuning_)
                                              : PredictKernel(op, device, constants_));
  }
  return estimates;
}

}  // namespace stagecraft
