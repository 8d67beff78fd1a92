// Prices every op by formula: kernels by roofline and efficiency, collectives
// by NCCL's own cost model. What learned models fall back to.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/kernel_model.h"
#include "costmodel/nccl_tuning.h"

namespace stagecraft {

// About 0.3 us an op; every Estimate has Basis::kAnalytical.
class AnalyticalModel : public CostModel {
 public:
  explicit AnalyticalModel(const NcclTuning& tuning = EmbeddedNcclTuning(),
                           const KernelConstants& constants = KernelConstants());

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  const NcclTuning tuning_;
  const KernelConstants constants_;
};

}  // namespace stagecraft
