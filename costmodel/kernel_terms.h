// Terms that the times of several kinds of kernels have in common.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// The time of a kernel from its start to its end that is not work (kernel_model.h fits 3.06 us on
// GEMMs).
inline constexpr double kKernelStartSeconds = 3e-6;

// Returns the clock cycles that the loads of a GEMM take at least because its rows are not aligned;
// 0 if they are, or if the device's loads know no such limit (Device::unaligned_flop_per_clock).
inline double UnalignedClocks(const Op& op, const Device& device) {
  const double single = device.unaligned_flop_per_clock;
  if (op.alignment >= kAlignedBytes || single <= 0) return 0;
  const double elements = std::max(1.0, op.alignment / ElementSize(op.dtype));
  return op.Flops().count() / (single * elements * device.multiprocessors);
}

// Bytes that a multiprocessor reads from L2 per clock, at most, on Volta and later (Jia et al.,
// "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018).
inline constexpr double kL2BytesPerClock = 64;

inline double L2BytesPerSecond(const Device& device) {
  return kL2BytesPerClock * device.multiprocessors * device.boost_clock_hz;
}

// Bytes of L2 in which one multiprocessor can find its operands. The large Ampere, Hopper and
// Blackwell chips have two halves, each of which keeps its own copy of what its multiprocessors
// read; on Ada there is one.
inline double L2OfOneMultiprocessor(const Device& device) {
  constexpr int64_t kLarge = 30 << 20;
  constexpr double kTwoDies = 4e12;  // bytes/s: no Blackwell GPU of one die has as much
  const double l2 = static_cast<double>(device.l2.count());
  const bool is_large = device.l2.count() >= kLarge;
  switch (device.generation) {
    case Generation::kAmpere:
    case Generation::kHopper:
      return is_large ? l2 / 2 : l2;
    case Generation::kBlackwell:
      return is_large && device.memory_bandwidth.bytes_per_s() > kTwoDies ? l2 / 2 : l2;
    default:
      return l2;
  }
}

// Returns (a^p + b^p)^(1/p): work that overlaps imperfectly takes a little longer than the longer
// of the two. Preconditions: a, b >= 0 and p >= 1. Zero only if both are.
inline double SmoothMax(double a, double b, double power) {
  const double longer = std::max(a, b);
  if (longer <= 0) return 0;
  return longer * std::pow(1 + std::pow(std::min(a, b) / longer, power), 1 / power);
}

// std::ceil of a number >= 0 without a call into libm, which would otherwise take most of the time
// of a table of tiles.
inline double Ceil(double value) {
  if (value >= 1e15) return value;  // far beyond any count
  const double whole = static_cast<double>(static_cast<int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

// Returns how many blocks of `tile` elements cover `size` elements.
inline double Blocks(double size, double tile) { return Ceil(size / tile); }

// Returns how many full waves of thread blocks over the multiprocessors take as long as `waves`
// waves do: at least one, and the share `loss`, in [0, 1], of the unfilled part of the last wave is
// lost. Grows with `waves`.
inline double CostOfWaves(double waves, double loss) {
  return std::max(1.0, waves + loss * (Ceil(waves) - waves));
}

// Returns how many factors of two the size has, but at most `most`: this is how well addresses are
// aligned.
inline int TrailingZeros(int64_t size, int most) {
  return std::min(std::countr_zero(static_cast<uint64_t>(size)), most);
}

}  // namespace stagecraft
