#include "costmodel/learned/training_rows.h"

#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "costmodel/device_catalogue.h"
#include "costmodel/kernel_model.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/known_gpus.h"
#include "costmodel/nearest.h"

namespace stagecraft {
const Device* MeasuredGpu(const std::string& gpu) {
  static const std::map<std::string, Device> devices = [] {
    std::map<std::string, Device> all;
    for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
      all[entry.device.id] = AsSampled(entry.device);
    }
    return all;
  }();
  const DeviceEntry* const entry = DeviceCatalogue::Embedded().Find(gpu);
  return entry == nullptr ? nullptr : &devices.at(entry->device.id);
}

const Device* MeasuredGpu(const Sample& sample) {
  return sample.device != nullptr ? sample.device.get() : MeasuredGpu(sample.gpu);
}

std::vector<std::vector<FitRow>> MakeTrainingRows(std::span<const Sample> samples,
                                                  const CallOverhead& overhead) {
  std::vector<std::vector<FitRow>> rows(KernelFamilies().size());
  std::map<std::string, const Device*> devices;
  for (const Sample& sample : samples) {
    const auto [device, is_new] = devices.try_emplace(sample.gpu, nullptr);
    if (is_new) device->second = MeasuredGpu(sample);
    if (device->second == nullptr || !CanCompute(sample.op, *device->second)) continue;
    const Duration time = overhead.DeviceTime(sample);
    if (time <= Duration()) continue;
    const KernelFamily* const family = FamilyOf(sample.op, *device->second);
    if (family == nullptr) continue;
    rows[IndexOf(*family)].push_back(
        {&sample.op, device->second, std::log(time.seconds()), sample.spread});
  }
  return rows;
}

bool CanPredict(const Sample& sample) {
  const Device* const device = MeasuredGpu(sample);
  return device != nullptr && CanCompute(sample.op, *device);
}

std::string WhySkipped(const Sample& sample) {
  if (CanPredict(sample)) return "";
  if (MeasuredGpu(sample) != nullptr) {
    return fmt::format("has no rate for {} in the {}", Name(sample.op.dtype),
                       sample.device != nullptr ? "cluster" : "device catalogue");
  }
  std::vector<std::string> known;
  for (const DeviceEntry& other : DeviceCatalogue::Embedded().entries()) {
    known.push_back(other.device.id);
  }
  return "is neither in the device catalogue nor in a --cluster; " +
         NearestNames(sample.gpu, known);
}

SkippedRows CountSkipped(std::span<const Sample> samples) {
  // The reason depends on these three alone, in which many samples are equal.
  std::map<std::tuple<std::string, DType, bool>, std::string> reasons;
  SkippedRows skipped;
  for (const Sample& sample : samples) {
    const bool computes = sample.op.Flops().count() > 0;
    const auto [reason, is_new] =
        reasons.try_emplace({sample.gpu, sample.op.dtype, computes}, std::string());
    if (is_new) reason->second = WhySkipped(sample);
    if (!reason->second.empty()) ++skipped[{sample.gpu, reason->second}];
  }
  return skipped;
}

}  // namespace stagecraft
