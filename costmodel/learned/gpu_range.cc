#include "costmodel/learned/gpu_range.h"

#include <fmt/core.h>

#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Fits change constants by a factor of 55 at most (FitConstants), so this is far beyond all of
// them.
constexpr double kMostFactor = 1000;

// Written so that NaN fails.
bool IsWithin(double value, double low, double high) { return value >= low && value <= high; }

void CheckShare(double share, const std::string& place, const char* field) {
  if (IsWithin(share, 0, 1)) return;
  throw InputError(fmt::format("{}.{}: got {}, want from 0 to 1", place, field, share));
}

}  // namespace

void CheckKnownGpu(const KnownGpu& gpu, const KernelFamily& family, const std::string& place) {
  CHECK(gpu.constants.size() == family.constants().size());
  for (size_t i = 0; i < gpu.constants.size(); ++i) {
    const Constant& constant = family.constants()[i];
    const double low = constant.value / kMostFactor, high = constant.value * kMostFactor;
    if (IsWithin(gpu.constants[i], low, high)) continue;
    throw InputError(fmt::format("{}.constants[{}]: got {}, want from {:g} to {:g} ({} of {})",
                                 place, i, gpu.constants[i], low, high, constant.name,
                                 family.name()));
  }
  CheckShare(gpu.share, place, "share");
  CheckShare(gpu.nearness, place, "nearness");
  if (!IsWithin(gpu.widening, kLeastWidening, kMostWidening)) {
    throw InputError(fmt::format("{}.widening: got {}, want from {} to {}", place, gpu.widening,
                                 kLeastWidening, kMostWidening));
  }
  const double most_offset = std::log(kMostFactor);
  if (IsWithin(gpu.offset, -most_offset, most_offset)) return;
  throw InputError(fmt::format("{}.offset: got {}, want from {:g} to {:g}, a factor of {} ({})",
                               place, gpu.offset, -most_offset, most_offset, kMostFactor,
                               family.name()));
}

}  // namespace stagecraft
