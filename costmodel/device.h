// One accelerator as numbers: what a datasheet and a few measurements say.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "costmodel/units.h"

namespace stagecraft {

// Number formats of matrix products. kTf32 stores 32 bits, multiplies 19.
enum class DType { kFp32, kTf32, kFp16, kBf16, kFp8 };
inline constexpr int kDTypeCount = 5;

// Bytes an element takes in memory.
constexpr int ElementSize(DType dtype) {
  switch (dtype) {
    case DType::kFp32:
    case DType::kTf32:
      return 4;
    case DType::kFp16:
    case DType::kBf16:
      return 2;
    case DType::kFp8:
      return 1;
  }
  return 0;
}
const char* Name(DType dtype);

// Families of chips, as far as models tell them apart. The order means nothing:
// ask a predicate, or NcclRow for NCCL's constants. kBlackwell includes Blackwell
// Ultra and the RTX boards, kGaudi is Gaudi 2 and 3, kHost a processor of a host.
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

// cuBLAS takes 32 MiB of workspace by default, elsewhere 4 MiB and a little
// (cuBLAS documentation, cublasSetWorkspace).
bool HasLargeWorkspace(Generation generation);

// Multiplies 8-bit numbers with a scale for every 32 of them (OCP Microscaling
// formats): Blackwell and CDNA 4.
bool HasBlockScaling(Generation generation);

struct Device {
  std::string id;    // "h100-sxm5-80gb"
  std::string name;  // "H100 SXM5 80GB"
  Generation generation = Generation::kHopper;
  int multiprocessors = 0;
  double boost_clock_hz = 0;
  // Dense peaks by DType; zero where the hardware has no such rate.
  std::array<FlopRate, kDTypeCount> peak;
  // Vector fp32 rate, for what does not run on tensor cores.
  FlopRate vector_peak;
  // Best measured 16-bit matrix product over its dense peak, in (0, 1]; what
  // power, clocks and kernels leave of the datasheet.
  double sustained_fraction = 1;
  // Clock that power and heat leave in hours of products on tensor cores, over the
  // boost clock at which kernels are measured one at a time; in (0, 1].
  double training_clock = 1;
  // What the host that drives this device needs to launch a kernel; zero where it launches
  // recorded graphs. Nothing: as the cost model has it for eager frameworks.
  std::optional<Duration> host_dispatch;
  Bytes memory;
  Bandwidth memory_bandwidth;
  Bytes l2;

  // The same for products of a format: fp32 units draw less power and lose half
  // as much (data/README.md).
  double TrainingClock(DType dtype) const {
    return dtype == DType::kFp32 ? std::sqrt(training_clock) : training_clock;
  }
  FlopRate Peak(DType dtype) const { return peak[static_cast<int>(dtype)]; }
  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace stagecraft
