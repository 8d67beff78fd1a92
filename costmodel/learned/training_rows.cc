#include "costmodel/learned/training_rows.h"

#include <cmath>

#include "costmodel/device_catalogue.h"
#include "costmodel/learned/kernel_families.h"

namespace stagecraft {
namespace {

bool IsCommonKernel(const Sample& sample) {
  return sample.op.kind != OpKind::kAttention || sample.op.use == AttentionUse::kTraining ||
         sample.name.find("flash") != std::string::npos;
}

}  // namespace

std::vector<FamilyRows> MakeTrainingRows(std::span<const Sample> samples,
                                         const CallOverhead& overhead) {
  std::vector<FamilyRows> rows(KernelFamilies().size());
  std::map<std::string, const Device*> devices;
  for (const Sample& sample : samples) {
    const auto [device, is_new] = devices.try_emplace(sample.gpu, nullptr);
    if (is_new) {
      const DeviceEntry* const entry = DeviceCatalogue::Embedded().Find(sample.gpu);
      if (entry != nullptr) device->second = &entry->device;
    }
    if (device->second == nullptr) continue;
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
