#include "costmodel/analytical_model.h"

#include "costmodel/check.h"
#include "costmodel/collective_model.h"
#include "costmodel/compute_slowdown.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/host_collective.h"
#include "costmodel/sparse_product.h"
#include "costmodel/sync_model.h"

namespace stagecraft {

AnalyticalModel::AnalyticalModel(const NcclTuning& tuning, const KernelConstants& constants)
    : tuning_(tuning), constants_(constants) {
  CHECK(!tuning_.version.empty());  // constants that were not filled in are all zero
}

std::vector<Estimate> AnalyticalModel::Predict(std::span<const Op> ops,
                                               const Device& device) const {
  return PriceWithSparse(ops, [&](std::span<const Op> some) { return Price(some, device); });
}

std::vector<Estimate> AnalyticalModel::Price(std::span<const Op> ops, const Device& device) const {
  std::vector<Estimate> estimates;
  estimates.reserve(ops.size());
  for (const Op& op : ops) {
    if (!IsCollective(op.kind)) {
      estimates.push_back(PredictKernel(op, device, constants_));
      continue;
    }
    const bool is_plain = op.sync.method == SyncMethod::kAllReduce;
    if (is_plain && device.generation == Generation::kHost) {
      estimates.push_back(PredictHostCollective(op, device));
      continue;
    }
    estimates.push_back(is_plain ? PredictCollective(op, device, tuning_)
                                 : PredictSync(op, device, tuning_));
    Estimate& estimate = estimates.back();
    estimate.host = LaunchTime(op, device, constants_);
    estimate.slowdown = ComputeSlowdown(op, estimate.method, device);
  }
  return estimates;
}

}  // namespace stagecraft
