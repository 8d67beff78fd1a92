// AnalyticalModel: prices every op by formula, kernels by a roofline with efficiencies and
// collectives by NCCL's own cost model. Learned models fall back to it.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/kernel_model.h"
#include "costmodel/nccl_tuning.h"

namespace stagecraft {

// Takes about 0.3 us for each op; every Estimate has Basis::kAnalytical.
class AnalyticalModel : public CostModel {
 public:
  explicit AnalyticalModel(const NcclTuning& tuning = EmbeddedNcclTuning(),
                           const KernelConstants& constants = KernelConstants());

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  // Prices sparse products from their entries.
  std::vector<Estimate> Price(std::span<const Op> ops, const Device& device) const;

  const NcclTuning tuning_;
  const KernelConstants constants_;
};

}  // namespace stagecraft
