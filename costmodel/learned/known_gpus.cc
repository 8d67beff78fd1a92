#include "costmodel/learned/known_gpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "costmodel/board_power.h"

namespace stagecraft {
namespace {

// The position of a GPU type among all GPU types, in logarithms: rates per multiprocessor and
// clock, and sizes. Weights and width are assumptions: no two GPU types with samples are near each
// other.
using Position = std::array<double, 5>;
constexpr double kWidth = 0.25;

Position PositionOf(const Device& device) {
  const double sms = device.multiprocessors;
  const double clocks = sms * device.boost_clock_hz;
  const double rate =
      std::max(device.Peak(DType::kFp16).flop_per_s(), device.vector_peak.flop_per_s());
  return {std::log(rate / clocks), 0.5 * std::log(device.memory_bandwidth.bytes_per_s() / clocks),
          0.5 * std::log(static_cast<double>(device.l2.count()) / sms), 0.25 * std::log(sms),
          std::log(device.boost_clock_hz)};
}

// The place of a generation in the history of tensor cores; neighbours have similar kernels.
double EraOf(Generation generation) {
  switch (generation) {
    case Generation::kKepler:
      return -1;
    case Generation::kPascal:
      return 0;
    case Generation::kVolta:
      return 1;
    case Generation::kTuring:
      return 1.3;
    case Generation::kAmpere:
      return 2;
    case Generation::kAda:
      return 2.3;
    case Generation::kHopper:
      return 3.3;
    default:  // Blackwell; other vendors' GPUs are most like the newest ones
      return 4;
  }
}

// Returns the weight of one GPU type in the constants of another that follow generations.
double KinshipOf(const Device& a, const Device& b) {
  constexpr double kEra = 0.5;
  return std::exp(-std::abs(EraOf(a.generation) - EraOf(b.generation)) / kEra);
}

// Returns 1 at the same position, and 1/e at a distance of kWidth.
double Nearness(const Position& a, const Position& b) {
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::exp(-square / (kWidth * kWidth));
}

// Whether kernels take the same times on both: how much memory a GPU has, or may use, does not
// matter.
bool ComputeAlike(const Device& a, const Device& b) {
  if (a.id != b.id) return false;  // spares a copy for each GPU type that is known
  Device same = a;
  same.memory = b.memory;
  return same == b;
}

}  // namespace

KnownGpus::KnownGpus(const KernelFamily& family, std::span<const FitRow> rows) : family_(&family) {
  const std::vector<double> start = StartOf(family);
  const bool has_own = family.learning().has_own_constants;
  const std::vector<double> joint =
      has_own ? std::vector<double>() : FitConstants(family, start, rows);
  for (const auto& [id, own] : ByGpu(rows)) {
    gpus_.push_back(
        {AsSampled(*own.front().device), has_own ? FitConstants(family, start, own) : joint});
  }
}

GpuSetting KnownGpus::SettingOf(const Device& device) const {
  for (const KnownGpu& gpu : gpus_) {
    if (!ComputeAlike(gpu.device, device)) continue;
    return {gpu.constants, gpu.share,    gpu.offset,   gpu.nearness,
            true,          gpu.residual, gpu.widening, gpu.is_calibrated};
  }
  if (gpus_.empty()) return {.constants = StartOf(*family_)};
  return Blend(device);
}

GpuSetting KnownGpus::Blend(const Device& device) const {
  constexpr double kLeastDistance = 1e-6;  // between GPU types at the same place
  GpuSetting setting;
  const size_t count = family_->constants().size();
  std::vector<double> near(count, 0), mean(count, 0);  // logarithms
  double kinship = 0;                                  // of all, so that their parts add up to 1
  for (const KnownGpu& gpu : gpus_) kinship += KinshipOf(gpu.device, device);
  const double n = static_cast<double>(gpus_.size());
  double sum = 0, share = 0, offset = 0, nearness = 0, closest = 0;
  const Position position = PositionOf(device);
  for (const KnownGpu& gpu : gpus_) {
    const double near_to = Nearness(position, PositionOf(gpu.device));
    // Grows nearly without bound towards a GPU type, so that it alone counts there.
    const double weight = near_to / (1 - near_to + kLeastDistance);
    closest = std::max(closest, near_to);
    sum += weight;
    share += weight * gpu.share;
    offset += weight * gpu.offset;
    nearness += weight * gpu.nearness;
    const double related = KinshipOf(gpu.device, device) / kinship;
    for (size_t i = 0; i < count; ++i) {
      const double log_constant = std::log(gpu.constants[i]);
      near[i] += weight * log_constant;
      mean[i] += (family_->constants()[i].follows_generation ? related : 1 / n) * log_constant;
    }
  }
  const double a = sum > 1e-12 ? closest : 0;
  const double scale = a > 0 ? a / sum : 0;
  for (size_t i = 0; i < count; ++i) {
    setting.constants.push_back(std::exp(scale * near[i] + (1 - a) * mean[i]));
  }
  setting.share = scale * share + (1 - a) * family_->learning().unknown_share;
  setting.offset = scale * offset;
  setting.nearness = std::min(kMostNearness, scale * nearness);
  return setting;
}

bool KnownGpus::Has(const Device& device) const {
  const Device measured = AsSampled(device);
  return std::any_of(gpus_.begin(), gpus_.end(),
                     [&](const KnownGpu& gpu) { return ComputeAlike(gpu.device, measured); });
}

KnownGpus KnownGpus::Without(const std::string& id) const {
  KnownGpus others = *this;
  std::erase_if(others.gpus_, [&](const KnownGpu& gpu) { return gpu.device.id == id; });
  return others;
}

void KnownGpus::Put(KnownGpu gpu) {
  gpu.device = AsSampled(std::move(gpu.device));
  std::erase_if(gpus_,
                [&](const KnownGpu& other) { return ComputeAlike(other.device, gpu.device); });
  gpus_.push_back(std::move(gpu));
}

Device AtClockShare(Device device) {
  const double share = device.clock_share;
  device.power_w = PowerAtClockShare(device, share);
  device.boost_clock_hz *= share;
  device.vector_peak = share * device.vector_peak;
  for (FlopRate& peak : device.peak) peak = share * peak;
  return device;
}

}  // namespace stagecraft
