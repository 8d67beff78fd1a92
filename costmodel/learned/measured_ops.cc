#include "costmodel/learned/measured_ops.h"

#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

MeasuredOps::MeasuredOps(std::unique_ptr<CostModel> rest, std::span<const Sample> samples,
                         const std::string& place)
    : rest_(std::move(rest)) {
  for (const Sample& sample : samples) {
    if (!sample.times_whole_calls) continue;
    throw InputError(place + ": got samples that time whole framework calls, want samples of " +
                     "kernels");
  }
  times_.Add(samples);
}

std::vector<Estimate> MeasuredOps::Predict(std::span<const Op> ops, const Device& device) const {
  std::vector<Estimate> estimates = rest_->Predict(ops, device);
  times_.Correct(
      ops, device,
      [this](std::span<const Op> some, const Device& at) { return rest_->Predict(some, at); },
      &estimates);
  return estimates;
}

}  // namespace stagecraft
