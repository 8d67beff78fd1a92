#include "runtime/profile/profile_suite.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "runtime/profile/suite_parts.h"

namespace stagecraft {
namespace {

constexpr int64_t kShareOfMemory = 8;
// Ops with a longer LeastTime() would take too much of a suite's time.
constexpr Duration kLongestQuick = 4_ms;
constexpr Duration kLongestFull = 10_ms;
// The same on a CPU, which is slower, and on which every training step is long.
constexpr Duration kLongestOnHost = 50_ms;
// The time to prepare an op on a GPU: the choice of an algorithm, memory, random data; for
// attention, cuDNN also compiles.
constexpr Duration kPreparation = 10_ms;
constexpr Duration kAttentionPreparation = 1000_ms;
// The fewest rows of a GEMM that calibrates.
constexpr int64_t kFewestRows = 16;

}  // namespace

Duration LeastTime(const Op& op, const Device& device) {
  Duration time = op.Traffic() / device.memory_bandwidth;
  if (op.Flops().count() > 0) {
    const FlopRate peak = device.Peak(op.dtype);
    if (peak.flop_per_s() <= 0) return Duration::Max();
    time = std::max(time, op.Flops() / peak);
  }
  if (IsCollective(op.kind)) time = op.bytes / op.fabric.intra.bandwidth;
  return time;
}

bool SuiteBuilder::Add(Op op, std::string_view kernel) {
  ProfileCase one{std::move(op), std::string(kernel)};
  if (Footprint(one).count() > options_.memory.count() / kShareOfMemory) return false;
  const bool is_host = options_.device.generation == Generation::kHost;
  const Duration longest = is_host ? kLongestOnHost : is_full() ? kLongestFull : kLongestQuick;
  if (LeastTime(one.op, options_.device) > longest) return false;
  if (!seen_.insert(one).second) return false;
  cases_.push_back(std::move(one));
  return true;
}

Bytes Footprint(const ProfileCase& one) {
  const Op& op = one.op;
  if (IsCollective(op.kind)) return op.bytes;
  return op.Traffic();
}

std::vector<Op> CalibrationShapes(const Device& device) {
  DType dtype = DType::kFp32;
  for (const DType half : {DType::kFp16, DType::kBf16}) {
    if (device.Peak(half).flop_per_s() > 0) dtype = half;
  }
  std::vector<Op> shapes;
  for (const auto& [m, n, k] : std::initializer_list<std::array<int64_t, 3>>{
           {16, 1024, 1024},     // the start of a kernel
           {16, 8192, 8192},     // weights through memory
           {128, 2048, 8192},    // few tiles: k is split
           {1024, 1024, 1024},   // part of a wave
           {8192, 8192, 256},    // stores
           {2048, 4096, 4096},   // short, at a high clock
           {4096, 8192, 8192},   // of about a millisecond
           {8192, 12288, 8192},  // long, at the clock that board power leaves
       }) {
    shapes.push_back(Op::Gemm(dtype, m, n, k));
  }
  return shapes;
}

std::vector<ProfileCase> MakeSuite(const SuiteOptions& options) {
  SuiteBuilder suite(options);
  if (options.size == SuiteSize::kCalibrate) {
    for (Op op : CalibrationShapes(options.device)) {
      // On small devices long GEMMs become as long as the suite allows.
      while (!suite.Add(op, kLinear) && op.m > kFewestRows) op.m /= 2;
    }
    return suite.Take();
  }
  if (options.device.generation == Generation::kHost) {
    AddHostOps(suite);
    return suite.Take();
  }
  AddProducts(suite);
  AddLayers(suite);
  AddAttention(suite);
  AddStreams(suite);
  AddHostCopies(suite);
  return suite.Take();
}

Duration LongestSuite(std::span<const ProfileCase> suite, const Device& device,
                      const MeasuringRules& rules, double share_of_peak) {
  const bool is_host = device.generation == Generation::kHost;
  Duration all;
  for (const ProfileCase& one : suite) {
    const double least = LeastTime(one.op, device).seconds();
    const Duration call = std::max(Duration::Seconds(least / share_of_peak), 2_us);
    all += LongestMeasuring(call, rules);
    if (is_host) continue;
    all += one.op.kind == OpKind::kAttention ? kAttentionPreparation : kPreparation;
  }
  return all;
}

}  // namespace stagecraft
