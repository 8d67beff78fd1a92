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
    if (!IsCollective(op.kind)) {
      estimates.push_back(PredictKernel(op, device, constants_));
      continue;
    }
    estimates.push_back(PredictCollective(op, device, tuning_));
    estimates.back().host = LaunchTime(op, constants_);
  }
  return estimates;
}

}  // namespace stagecraft
