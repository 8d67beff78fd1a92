#include "costmodel/learned/training_rows.h"

#include <cmath>

#include "costmodel/device_catalogue.h"
#include "costmodel/learned/kernel_families.h"

namespace stagecraft {
namespace {

// Tables may hold formats that a board has no rate for.
bool HasRate(const Op& op, const Device& device) {
  return op.Flops().count() <= 0 || device.Peak(op.dtype).flop_per_s() > 0;
}

bool IsCommonKernel(const Sample& sample) {
  return sample.op.kind != OpKind::kAttention || sample.op.use == AttentionUse::kTraining ||
         sample.name.find("flash") != std::string::npos;
}

}  // namespace

std::vector<FamilyRows> MakeTrainingRows(std::span<const Sample> samples,
                                         const CallOverhead& overhead) {
  std::vector<FamilyRows> rows(KernelFamilies().size());
  // At the boost clock, at which they were measured.
  static const std::map<std::string, Device> boards = [] {
    std::map<std::string, Device> all;
    for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
      all[entry.device.id] = entry.device;
      all[entry.device.id].training_clock = 1;
    }
    return all;
  }();
  std::map<std::string, const Device*> devices;
  for (const Sample& sample : samples) {
    const auto [device, is_new] = devices.try_emplace(sample.gpu, nullptr);
    if (is_new) {
      const DeviceEntry* const entry = DeviceCatalogue::Embedded().Find(sample.gpu);
      if (entry != nullptr) device->second = &boards.at(entry->device.id);
    }
    if (device->second == nullptr || !HasRate(sample.op, *device->second)) continue;
    const Duration time = overhead.DeviceTime(sample);
    if (time <= Duration()) continue;
    for (size_t f = 0; f < rows.size(); ++f) {
      if (!KernelFamilies()[f]->Covers(sample.op)) continue;
      const FitRow row{&sample.op, device->second, std::log(time.seconds())};
      (IsCommonKernel(sample) ? rows[f].own : rows[f].serving).push_back(row);
      break;
    }
  }
  return rows;
}

std::map<std::string, int> UnknownBoards(std::span<const Sample> samples) {
  std::map<std::string, int> unknown;
  for (const Sample& sample : samples) {
    if (DeviceCatalogue::Embedded().Find(sample.gpu) == nullptr) ++unknown[sample.gpu];
  }
  return unknown;
}

}  // namespace stagecraft
