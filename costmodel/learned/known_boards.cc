#include "costmodel/learned/known_boards.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace stagecraft {
namespace {

// Where a GPU type lies among GPU types, in logarithms: rates per multiprocessor and clock, and
// sizes. Weights and width are assumptions: no two GPU types with samples are near each other.
using Position = std::array<double, 5>;
constexpr double kWidth = 0.25;

Position PositionOf(const Device& device) {
  const double sms = device.multiprocessors;
  const double clocks = sms * device.boost_clock_hz;
  const double rate =
      std::max(device.Peak(DType::kFp16).flop_per_s(), device.vector_peak.flop_per_s());
  return {std::log(rate * device.sustained_fraction / clocks),
          0.5 * std::log(device.memory_bandwidth.bytes_per_s() / clocks),
          0.5 * std::log(static_cast<double>(device.l2.count()) / sms), 0.25 * std::log(sms),
          std::log(device.boost_clock_hz)};
}

// 1 at the same place, 1/e at kWidth from it.
double Nearness(const Position& a, const Position& b) {
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::exp(-square / (kWidth * kWidth));
}

}  // namespace

KnownBoards::KnownBoards(const KernelFamily& family, std::span<const FitRow> rows)
    : family_(&family) {
  const std::vector<double> start = StartOf(family);
  const bool has_own = family.learning().has_own_constants;
  const std::vector<double> joint =
      has_own ? std::vector<double>() : FitConstants(family, start, rows);
  for (const auto& [id, own] : ByBoard(rows)) {
    boards_.push_back({*own.front().device, has_own ? FitConstants(family, start, own) : joint});
  }
}

BoardSetting KnownBoards::SettingOf(const Device& device) const {
  for (const KnownBoard& board : boards_) {
    if (board.device != device) continue;
    return {board.constants, board.share, board.offset, board.nearness, true};
  }
  if (boards_.empty()) return {.constants = StartOf(*family_)};
  return Blend(device);
}

BoardSetting KnownBoards::Blend(const Device& device) const {
  constexpr double kLeastDistance = 1e-6;  // between GPU types at the same place
  BoardSetting setting;
  const size_t count = family_->constants().size();
  std::vector<double> near(count, 0), mean(count, 0);  // logarithms
  double sum = 0, share = 0, offset = 0, nearness = 0, closest = 0;
  const Position position = PositionOf(device);
  for (const KnownBoard& board : boards_) {
    const double near_to = Nearness(position, PositionOf(board.device));
    // Grows without bound towards a GPU type, so that there it alone counts.
    const double weight = near_to / (1 - near_to + kLeastDistance);
    closest = std::max(closest, near_to);
    sum += weight;
    share += weight * board.share;
    offset += weight * board.offset;
    nearness += weight * board.nearness;
    for (size_t i = 0; i < count; ++i) {
      near[i] += weight * std::log(board.constants[i]);
      mean[i] += std::log(board.constants[i]) / static_cast<double>(boards_.size());
    }
  }
  const double a = sum > 1e-12 ? closest : 0;
  const double scale = a > 0 ? a / sum : 0;
  for (size_t i = 0; i < count; ++i) {
    setting.constants.push_back(std::exp(scale * near[i] + (1 - a) * mean[i]));
  }
  setting.share = scale * share + (1 - a) * family_->learning().unknown_share;
  setting.offset = scale * offset;
  setting.nearness = scale * nearness;
  return setting;
}

bool KnownBoards::Has(const Device& device) const {
  const Device measured = AsSampled(device);
  return std::any_of(boards_.begin(), boards_.end(),
                     [&](const KnownBoard& board) { return board.device == measured; });
}

KnownBoards KnownBoards::Without(const std::string& id) const {
  KnownBoards others = *this;
  std::erase_if(others.boards_, [&](const KnownBoard& board) { return board.device.id == id; });
  return others;
}

void KnownBoards::Put(KnownBoard board) {
  std::erase_if(boards_, [&](const KnownBoard& other) { return other.device == board.device; });
  boards_.push_back(std::move(board));
}

Device AtTrainingClock(Device device) {
  device.boost_clock_hz *= device.training_clock;
  device.vector_peak = device.TrainingClock(DType::kFp32) * device.vector_peak;
  for (int type = 0; type < kDTypeCount; ++type) {
    device.peak[type] = device.TrainingClock(static_cast<DType>(type)) * device.peak[type];
  }
  return device;
}

Device AsSampled(Device device) {
  device.training_clock = 1;
  device.host_dispatch.reset();
  return device;
}

}  // namespace stagecraft
