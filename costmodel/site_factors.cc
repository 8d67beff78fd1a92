#include "costmodel/site_factors.h"

#include <cmath>

#include "costmodel/scaled_model.h"

namespace stagecraft {

std::vector<Estimate> SiteModel::Predict(std::span<const Op> ops, const Device& device) const {
  const ScaledModel scaled(
      model_, {.compute = factors_.compute, .intra = factors_.network, .inter = factors_.network});
  std::vector<Estimate> estimates = scaled.Predict(ops, device);
  if (factors_.host == 1) return estimates;
  for (Estimate& estimate : estimates) {
    estimate.host = Duration::RoundedNanoseconds(
        std::round(static_cast<double>(estimate.host.ns()) * factors_.host));
  }
  return estimates;
}

}  // namespace stagecraft
