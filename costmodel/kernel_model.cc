#include "costmodel/kernel_model.h"

#include <algorithm>

#include "costmodel/attention_version.h"
#include "costmodel/board_power.h"
#include "costmodel/check.h"
#include "costmodel/gemm_tiles.h"
#include "costmodel/kernel_terms.h"

namespace stagecraft {
namespace {

// The rows of queries in a thread block of FlashAttention, and the fewest rows that a GEMM on
// tensor cores computes.
constexpr double kQueryRows = 128;
constexpr double kFewestRows = 16;
constexpr double kReferenceHeadSize = 128;

// Sigma of log(predicted / measured) on held-out shapes of A100, H100 and V100, pooled
// (docs/cost-model.md); that of streams lies between the value of elementwise kernels (0.1) and
// that of softmax and layer norm (0.3). The last three constants are assumptions without samples.
// Other devices are predicted worse.
constexpr double kGemmSpread = 0.15;
constexpr double kFp32GemmSpread = 0.18;
constexpr double kAttentionSpread = 0.22;
constexpr double kStreamSpread = 0.25;
constexpr double kNarrowGemmSpread = 0.30;
constexpr double kAttentionBackwardSpread = 0.30;
constexpr double kSparseSpread = 0.50;

double SustainedRate(const Op& op, const Device& device) {
  const double peak = device.Peak(op.dtype).flop_per_s();
  CHECK(peak > 0);
  // The fp32 units reach their datasheet peak: 14.01 of 14.13 TFLOP/s on a V100 PCIe.
  const double reached = op.dtype == DType::kFp32 ? peak * IssuedShare(device.generation)
                                                  : peak * SustainedFraction(device);
  const PoweredClocks sampled = ClocksWithPauses(device, op.dtype);
  const double clock = device.is_busy ? sampled.sustained : sampled.at_once;
  // A device without a clock keeps its rates.
  const double slower = sampled.at_once > 0 ? clock / sampled.at_once : 1;
  return reached * device.clock_share * slower;
}

double GemmComputeSeconds(const Op& op, const Device& device, const KernelConstants& constants) {
  const bool on_fp32_units = op.dtype == DType::kFp32;
  const TileCosts costs = {on_fp32_units ? constants.fp32_edge : constants.tensor_edge,
                           on_fp32_units ? 0 : constants.k_fill, constants.wave_loss,
                           constants.split.seconds()};
  const bool gathers = op.kind == OpKind::kConvolution && !on_fp32_units;
  const double share = gathers ? device.convolution_share : 1;
  const double rate = share * SustainedRate(op, device);
  const double aligned = TiledSeconds(ProductOf(op), costs, rate, device.multiprocessors);
  // A device without a clock keeps its rates.
  if (device.boost_clock_hz <= 0) return aligned;
  return std::max(aligned, UnalignedClocks(op, device) / device.boost_clock_hz);
}

double AttentionComputeSeconds(const Op& op, const Device& device,
                               const KernelConstants& constants) {
  const bool backward = op.direction == Direction::kBackward;
  const double half = constants.attention_head_half;
  // The rate is proportional to head / (head + half), scaled to 1 at the reference size: the FLOPs
  // of one key become (head + half) of equal speed.
  const double head =
      (static_cast<double>(op.k) + half) * kReferenceHeadSize / (kReferenceHeadSize + half);
  const double fraction = std::min(1.0, constants.attention_fraction) *
                          (backward ? constants.attention_backward_fraction : 1.0);
  const double rate = SustainedRate(op, device) * fraction / device.multiprocessors;
  const double rows = std::clamp(static_cast<double>(op.m), kFewestRows, kQueryRows);
  const double flops_per_key = (backward ? 5 : 2) * 2 * rows * head;
  const double blocks =
      static_cast<double>(op.batch) * Blocks(static_cast<double>(op.m), kQueryRows);
  const double waves = blocks / device.multiprocessors;
  const double keys = static_cast<double>(op.n);
  const double mean = (op.causal ? 0.5 : 1.0) * keys + constants.attention_key_fill;
  // The last block of queries sees every key, and one multiprocessor computes it.
  const double longest = keys + constants.attention_key_fill;
  const double critical = std::max(CostOfWaves(waves, constants.wave_loss) * mean, longest);
  return VersionSlowness(op, device) * critical * flops_per_key / rate;
}

// Entries are scattered, so that tensor cores have no use for them.
double SparseComputeSeconds(const Op& op, const Device& device, const KernelConstants& constants) {
  const double vector = device.vector_peak.flop_per_s();
  const double peak = vector > 0 ? vector : device.Peak(op.dtype).flop_per_s();
  return op.Flops().count() / (constants.sparse_fraction * peak * device.clock_share);
}

double MemorySeconds(const Op& op, const Device& device, double fraction) {
  return static_cast<double>(op.Traffic().count()) /
         (fraction * device.memory_bandwidth.bytes_per_s());
}

// Returns one of the kernels of a GEMM: recurrent layers multiply the rows of one time step after
// another.
Op OneKernel(Op op) {
  if (op.kind == OpKind::kGemm && op.kernels > 1) {
    op.m = std::max<int64_t>(1, op.m / op.kernels);
    op.kernels = 1;
  }
  return op;
}

Duration DeviceTime(const Op& op, const Device& device, const KernelConstants& constants) {
  const Duration starts = op.kernels * constants.start;
  switch (op.kind) {
    case OpKind::kGemm:
      if (op.kernels > 1) return op.kernels * DeviceTime(OneKernel(op), device, constants);
      [[fallthrough]];
    case OpKind::kConvolution:  // an implicit GEMM
      return starts + Duration::Seconds(
                          SmoothMax(GemmComputeSeconds(op, device, constants),
                                    MemorySeconds(op, device, constants.product_memory_fraction),
                                    constants.overlap_power));
    case OpKind::kAttention:
      return (op.kernels - 1) * constants.start + constants.attention_start +
             Duration::Seconds(
                 SmoothMax(AttentionComputeSeconds(op, device, constants),
                           MemorySeconds(op, device, constants.product_memory_fraction),
                           constants.overlap_power));
    case OpKind::kSparse:
      return starts + Duration::Seconds(
                          SmoothMax(SparseComputeSeconds(op, device, constants),
                                    MemorySeconds(op, device, constants.product_memory_fraction),
                                    constants.overlap_power));
    default:
      return starts +
             Duration::Seconds(MemorySeconds(op, device, constants.stream_memory_fraction));
  }
}

double Spread(const Op& op) {
  switch (op.kind) {
    case OpKind::kGemm:
    case OpKind::kConvolution:
      if (ElementBits(op.dtype) < 16) return kNarrowGemmSpread;
      return op.dtype == DType::kFp32 ? kFp32GemmSpread : kGemmSpread;
    case OpKind::kAttention:
      return op.direction == Direction::kForward ? kAttentionSpread : kAttentionBackwardSpread;
    case OpKind::kSparse:
      return kSparseSpread;
    default:
      return kStreamSpread;
  }
}

}  // namespace

bool CanCompute(const Op& op, const Device& device) {
  return op.Flops().count() <= 0 || device.Peak(op.dtype).flop_per_s() > 0;
}

Estimate PredictKernel(const Op& given, const Device& device, const KernelConstants& constants) {
  CHECK(!IsCollective(given.kind));
  Op op = given;
  if (op.kind == OpKind::kSparse) op.product = SparseProduct::kFromEntries;
  // The host may make calls between ops that take no time of the device.
  if (op.kind == OpKind::kNone) {
    return {Duration(), Basis::kAnalytical, 0, LaunchTime(op, device, constants)};
  }
  if (op.kind == OpKind::kProfiled) {
    return {op.m * op.profiled, op.m == 1 ? Basis::kMeasured : Basis::kExtrapolated, 0};
  }
  return {std::max(DeviceTime(op, device, constants), RooflineTime(op, device)), Basis::kAnalytical,
          Spread(op), LaunchTime(op, device, constants)};
}

Duration LaunchTime(const Op& op, const Device& device, const KernelConstants& constants) {
  if (device.generation == Generation::kHost) return Duration();
  const Duration dispatch = device.host_dispatch.value_or(constants.host_dispatch);
  if (IsCollective(op.kind) && op.fabric.ranks <= 1) return Duration();
  return op.kernels * dispatch;
}

Duration RooflineTime(const Op& op, const Device& device) {
  double seconds = 0;
  if (op.Flops().count() > 0) {
    const double peak = device.Peak(op.dtype).flop_per_s();
    CHECK(peak > 0);
    seconds = op.Flops().count() / peak;
  }
  const double bytes = static_cast<double>(op.Traffic().count());
  const double dram = device.memory_bandwidth.bytes_per_s();
  const double l2 = std::max(dram, L2BytesPerSecond(device));
  const double beyond_l2 = std::max(0.0, bytes - static_cast<double>(device.l2.count()));
  return Duration::Seconds(std::max({seconds, beyond_l2 / dram, bytes / l2}));
}

}  // namespace stagecraft
