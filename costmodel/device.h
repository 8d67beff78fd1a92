// Device: one GPU type as numbers, namely what a datasheet and a few measurements say.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "costmodel/units.h"

namespace stagecraft {

// Number formats of GEMMs. kTf32 stores 32 bits and multiplies 19 of them. kNvfp4 has a scale of 8
// bits for every 16 numbers of 4 bits (NVIDIA's NVFP4).
enum class DType { kFp32, kTf32, kFp16, kBf16, kFp8, kNvfp4 };
inline constexpr int kDTypeCount = 6;
const char* Name(DType dtype);

// Bits of a number in memory, without the scales.
constexpr int ElementBits(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
    case DType::kTf32:
      return 32;
    case DType::kFp16:
    case DType::kBf16:
      return 16;
    case DType::kFp8:
      return 8;
    case DType::kNvfp4:
      return 4;
  }
  return 0;
}
// Bytes that a number takes in memory, with its share of a scale.
constexpr double ElementSize(DType dtype) {
  return ElementBits(dtype) / 8.0 + (dtype == DType::kNvfp4 ? 1.0 / 16 : 0);
}
// The same for all numbers of a tensor.
constexpr Bytes TensorBytes(DType dtype, int64_t numbers) {
  if (dtype == DType::kNvfp4) return Bytes((numbers + 1) / 2 + (numbers + 15) / 16);
  return Bytes(ElementBits(dtype) / 8 * numbers);
}

// The format of all tensors of a training step whose GEMMs have this precision. GEMMs of fewer bits
// than 16 take them through a cast, and write 16 bits.
constexpr DType WorkingType(DType precision) {
  return ElementBits(precision) < 16 ? DType::kBf16 : precision;
}
constexpr bool IsCast(DType precision) { return WorkingType(precision) != precision; }

// Generations of chips, as far as models distinguish them. Their order means nothing: ask a
// predicate, or NcclRow() for NCCL's constants. kBlackwell includes Blackwell Ultra and the RTX
// cards, kGaudi is Gaudi 2 and 3, and kHost is a CPU of a host.
enum class Generation {
  kPascal,
  kVolta,
  kAmpere,
  kHopper,
  kBlackwell,
  kKepler,
  kTuring,
  kAda,
  kCdna2,
  kCdna3,
  kCdna4,
  kGaudi,
  kHost,
};
const char* Name(Generation generation);

// Whether cuBLAS takes 32 MiB of workspace by default; on other generations it takes a little more
// than 4 MiB (cuBLAS documentation, cublasSetWorkspace).
bool HasLargeWorkspace(Generation generation);

// Whether the generation multiplies 8-bit numbers that have a scale for every 32 of them (OCP
// Microscaling formats): Blackwell and CDNA 4 do.
bool HasBlockScaling(Generation generation);

// Stacked memory, or chips beside the GPU: GDDR, and also LPDDR and DDR.
enum class MemoryKind { kHbm, kGddr };
const char* Name(MemoryKind kind);

inline constexpr double kUsualExponentials = 16;
// What convolutions reach of the rate of a GEMM of their size on tensor cores, because they gather
// windows and change layouts. No sample of ours has one: fitted on published training steps of
// networks of images in 16 bits and TF32 (docs/cost-model.md).
inline constexpr double kUsualConvolutionShare = 0.5;
// FLOP per clock that the tensor cores of a multiprocessor reach if every load brings one element,
// since rows begin at multiples of an element only: three GEMMs of 50,257 columns in 16 bits took
// 2.65 ms on an H200 (data/measured). Loads of more elements are taken to bring as many times that;
// they were not measured.
inline constexpr double kUsualUnalignedFlopPerClock = 460;
// NCCL's own limit, which it reaches on fast links.
inline constexpr int kUsualCollectiveBlocks = 32;

struct Device {
  std::string id;    // "h100-sxm5-80gb"
  std::string name;  // "H100 SXM5 80GB"
  Generation generation = Generation::kHopper;
  int multiprocessors = 0;
  double boost_clock_hz = 0;
  // Dense peaks, indexed by DType; zero for a format that the hardware has no rate for.
  std::array<FlopRate, kDTypeCount> peak;
  // The fp32 rate of vector units, for work that does not run on tensor cores.
  FlopRate vector_peak;
  // The best measured 16-bit GEMM over the dense peak, in (0, 1]: what power, clocks and kernels
  // leave of the datasheet's rate. 0: not measured; board_power.h derives it.
  double sustained_fraction = 0;
  // Of the rate of GEMMs on tensor cores, what convolutions reach; in (0, 1].
  double convolution_share = kUsualConvolutionShare;
  // What a GEMM on tensor cores reaches at most if its rows are not aligned, in FLOP per clock of a
  // multiprocessor and element that a load brings; 0: no less than if they are.
  double unaligned_flop_per_clock = kUsualUnalignedFlopPerClock;
  // The clock that heat or a cap leaves, over the one that board power leaves; in (0, 1].
  double clock_share = 1;
  // Whether it computes without pauses, as in training, so that board power limits the clock of
  // short kernels, too (board_power.h).
  bool is_busy = true;
  // The most blocks of threads of a kernel of NCCL (NCCL_MAX_CTAS), each of which keeps a
  // multiprocessor from what computes beside it (compute_slowdown.h).
  int collective_blocks = kUsualCollectiveBlocks;
  // The time that the host of this device needs to launch a kernel; zero if it launches recorded
  // graphs. Without a value, the cost model's constant for eager frameworks applies.
  std::optional<Duration> host_dispatch;
  Bytes memory;
  Bandwidth memory_bandwidth;
  MemoryKind memory_kind = MemoryKind::kHbm;
  Bytes l2;
  // Exponentials of a multiprocessor in a clock, which softmax needs: 16 on NVIDIA's GPUs up to
  // B200 (CUDA programming guide, throughput of native arithmetic), twice that on Blackwell Ultra.
  double exponentials_per_clock = kUsualExponentials;
  // The most that the board may draw (board_power.h); 0: without a limit.
  double power_w = 0;

  FlopRate Peak(DType dtype) const { return peak[static_cast<int>(dtype)]; }
  friend bool operator==(const Device&, const Device&) = default;
};

// Returns the device in the state in which kernels are measured: one at a time, with pauses, at the
// boost clock, whatever launches them.
Device AsSampled(Device device);

}  // namespace stagecraft
