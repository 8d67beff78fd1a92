#include "costmodel/board_power.h"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

constexpr double kVoltageExponent = 2.25;
constexpr double kStillWatts = 20;
constexpr double kStillWattsPerByte = 45e-12;  // per byte/s of memory bandwidth
// Watts for each FLOP per clock at 1 GHz: 16-bit numbers on tensor cores with 4,096 FLOPs a clock
// on each multiprocessor, in a process of 5 nm, and 32-bit numbers on vector units.
constexpr double kTensorWatts = 3.7e-4;
constexpr double kVectorWatts = 4.0e-3;
// Tensor cores of half the width need 2^0.4 times the energy for an operation.
constexpr double kReferenceWidth = 4096;
constexpr double kWidthExponent = -0.4;
// Energy of an operation on 8-bit numbers over one on 16-bit numbers; taken for that on 4-bit
// numbers over one on 8-bit numbers, too.
constexpr double kHalfTheBits = 0.57;
// What the best GEMMs reach of the rate at the clock at which they run: 0.94 of it, less what it
// costs to load the operands of their tiles.
constexpr double kReachedRate = 0.85;

// Returns the energy of an operation in the process of a generation over that in 5 nm; 0 for
// generations that the model does not cover.
double ProcessEnergy(Generation generation) {
  switch (generation) {
    case Generation::kKepler:
      return 3.5;
    case Generation::kPascal:
      return 2.6;
    case Generation::kVolta:
    case Generation::kTuring:
      return 2.4;
    case Generation::kAmpere:
      return 1.25;
    case Generation::kAda:
    case Generation::kHopper:
    case Generation::kBlackwell:
      return 1;
    default:
      return 0;
  }
}

bool RunsOnTensorCores(const Device& device, DType dtype) {
  return dtype != DType::kFp32 && device.generation != Generation::kHost &&
         device.generation != Generation::kPascal && device.generation != Generation::kKepler;
}

// Returns what a board draws besides computing, but at most nine tenths of its power.
double StillWatts(const Device& device) {
  return std::min(0.9 * device.power_w,
                  kStillWatts + kStillWattsPerByte * device.memory_bandwidth.bytes_per_s());
}

// Watts for each FLOP per clock at 1 GHz; `width` is the number of FLOPs of one multiprocessor in
// one clock.
double WattsPerFlop(const Device& device, DType dtype, double width) {
  const double process = ProcessEnergy(device.generation);
  if (!RunsOnTensorCores(device, dtype)) {
    return kVectorWatts * process * (dtype == DType::kFp32 ? 1 : 0.5);
  }
  const int bits = ElementBits(dtype);
  const double of_format = bits > 16 ? 2 : std::pow(kHalfTheBits, std::log2(16.0 / bits));
  // The same tensor cores do twice as many operations of half the size in a clock.
  const double width_of_16_bits = width * bits / 16;
  return kTensorWatts * process * of_format *
         std::pow(width_of_16_bits / kReferenceWidth, kWidthExponent);
}

// The format of training: of 16 bits, if the device has a rate for one.
DType UsualFormat(const Device& device) {
  if (device.Peak(DType::kBf16).flop_per_s() > 0) return DType::kBf16;
  return device.Peak(DType::kFp16).flop_per_s() > 0 ? DType::kFp16 : DType::kFp32;
}

}  // namespace

double PoweredClocks::Slowed(double seconds) const {
  if (sustained >= at_once) return seconds;
  const double square = seconds * seconds;
  const double settled = square / (square + kSettlingSeconds * kSettlingSeconds);
  return seconds * std::pow(at_once / sustained, settled);
}

double FlopPerClock(const Device& device, DType dtype) {
  constexpr double kNear = 0.25;  // doublings
  const double width =
      device.Peak(dtype).flop_per_s() / device.multiprocessors / device.boost_clock_hz;
  if (!RunsOnTensorCores(device, dtype)) return width * device.multiprocessors;
  const double doublings = std::log2(width);
  const double whole = std::round(doublings);
  const bool is_near = std::abs(doublings - whole) <= kNear;
  return (is_near ? std::exp2(whole) : width) * device.multiprocessors;
}

PoweredClocks ClocksOf(const Device& device, DType dtype, double energy, double headroom) {
  const PoweredClocks clocks = ClocksWithPauses(device, dtype, energy, headroom);
  return device.is_busy ? PoweredClocks{clocks.sustained, clocks.sustained} : clocks;
}

PoweredClocks ClocksWithPauses(const Device& device, DType dtype, double energy, double headroom) {
  const double boost = device.boost_clock_hz;
  const bool is_measured = device.sustained_fraction > 0 && RunsOnTensorCores(device, dtype);
  const bool has_power = device.power_w > 0 && ProcessEnergy(device.generation) > 0;
  if (!is_measured && !has_power) return {boost, boost};
  const double flop = FlopPerClock(device, dtype);
  double at_once = 0;
  if (is_measured) {
    const double rate = device.sustained_fraction * device.Peak(dtype).flop_per_s() / kReachedRate;
    at_once = rate / flop * std::pow(energy, -1 / kVoltageExponent);
  } else {
    const double watts = energy * flop * WattsPerFlop(device, dtype, flop / device.multiprocessors);
    const double left = headroom * (device.power_w - StillWatts(device));
    at_once = 1e9 * std::pow(left / watts, 1 / kVoltageExponent);
  }
  const double sustained = has_power ? at_once / std::pow(headroom, 1 / kVoltageExponent) : at_once;
  return {std::min(boost, at_once), std::min(boost, sustained)};
}

double PowerAtClockShare(const Device& device, double share) {
  const double still = StillWatts(device);
  return still + (device.power_w - still) * std::pow(share, kVoltageExponent);
}

double IssuedShare(Generation generation) {
  return generation == Generation::kKepler ? 2.0 / 3 : 1;
}

double SustainedFraction(const Device& device) {
  if (device.sustained_fraction > 0) return device.sustained_fraction;
  const DType dtype = UsualFormat(device);
  const double peak = device.Peak(dtype).flop_per_s();
  if (peak <= 0) return kReachedRate;
  const double rate = FlopPerClock(device, dtype) * ClocksWithPauses(device, dtype).at_once;
  return std::min(1.0, kReachedRate * rate / peak);
}

double ClockGain(const Device& device, double share) {
  const double clock = ClocksOf(device, UsualFormat(device)).sustained;
  if (!(clock > 0)) return 1;
  const double raised = clock * std::pow(share, -1 / kVoltageExponent);
  return std::min(device.boost_clock_hz, raised) / clock;
}

double SustainedClock(const Device& device) {
  const double clock = ClocksOf(device, UsualFormat(device)).sustained;
  return device.clock_share * clock / device.boost_clock_hz;
}

}  // namespace stagecraft
