#include "costmodel/learned/measured_ops.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/learned/known_boards.h"

namespace stagecraft {

MeasuredOps::MeasuredOps(std::unique_ptr<CostModel> rest, std::span<const Sample> samples,
                         const std::string& place)
    : rest_(std::move(rest)) {
  for (const Sample& sample : samples) {
    if (sample.times_whole_calls) {
      throw InputError(place + ": got samples that time whole calls of a framework, want those of " +
                       "kernels");
    }
    const DeviceEntry* const known = DeviceCatalogue::Embedded().Find(sample.gpu);
    Measured& measured =
        tables_[known == nullptr ? sample.gpu : known->device.id][sample.op];
    measured.seconds += sample.time.seconds();
    ++measured.samples;
    measured.spread = std::max(measured.spread, sample.spread);
  }
}

std::vector<Estimate> MeasuredOps::Predict(std::span<const Op> ops, const Device& device) const {
  std::vector<Estimate> estimates = rest_->Predict(ops, device);
  const auto table = tables_.find(device.id);
  if (table == tables_.end()) return estimates;
  std::vector<Estimate> at_boost;
  if (device.training_clock < 1) at_boost = rest_->Predict(ops, AsSampled(device));
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto found = table->second.find(ops[i]);
    if (found == table->second.end()) continue;
    const Measured& measured = found->second;
    double seconds = measured.seconds / measured.samples;
    if (!at_boost.empty() && at_boost[i].time > Duration()) {
      seconds *= estimates[i].time.seconds() / at_boost[i].time.seconds();
    }
    estimates[i].time = Duration::Seconds(seconds);
    estimates[i].basis = Basis::kMeasured;
    estimates[i].spread = measured.spread;
  }
  return estimates;
}

}  // namespace stagecraft
