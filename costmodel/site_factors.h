// SiteFactors: how much faster or slower a site's devices, network and hosts are than a cost model
// says, as a few measured training steps tell.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"

namespace stagecraft {

// Each within kLeastSiteFactor and kMostSiteFactor.
struct SiteFactors {
  double compute = 1;  // speed of kernels, as a clock changes it
  double network = 1;  // bandwidth of all links
  double host = 1;     // time that hosts need to launch kernels
  friend bool operator==(const SiteFactors&, const SiteFactors&) = default;
};
inline constexpr double kLeastSiteFactor = 0.2, kMostSiteFactor = 5;

// The estimates of another model at the site: times of kernels as by ScaledModel, and the time of
// hosts times SiteFactors::host. `model` must outlive this one.
class SiteModel : public CostModel {
 public:
  SiteModel(const CostModel& model, const SiteFactors& factors)
      : model_(model), factors_(factors) {}

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  const CostModel& model_;
  const SiteFactors factors_;
};

}  // namespace stagecraft
