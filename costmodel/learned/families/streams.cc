#include "costmodel/learned/families/streams.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "costmodel/check.h"
#include "costmodel/kernel_terms.h"
#include "costmodel/learned/families/feature_row.h"
#include "costmodel/learned/families/tabled_family.h"

namespace stagecraft {
namespace {

enum ConstantIndex { kStart, kFraction, kOldFraction };
// Fractions of the bandwidth: medians over samples of more than 3 times L2, namely 0.90 on an A100
// and 0.95 on a V100, 0.77 on T4, P100 and P4. Norms and softmax are predicted better with these
// than with fractions of their own.
constexpr Constant kConstants[] = {{"start_s", kKernelStartSeconds, false},
                                   {"memory_fraction", 0.90, false},
                                   {"old_memory_fraction", 0.755, false}};

double FractionOn(const Device& device, std::span<const double> constants) {
  switch (device.generation) {
    case Generation::kKepler:
    case Generation::kPascal:
    case Generation::kTuring:
      return constants[kOldFraction];
    default:
      return constants[kFraction];
  }
}

double BytesOfOneKernel(const Op& op) {
  return static_cast<double>(op.bytes.count()) / std::max(1, op.kernels);
}

double Seconds(const Op& op, double passes, const Device& device,
               std::span<const double> constants) {
  CHECK(constants.size() == std::size(kConstants));
  const double rate = FractionOn(device, constants) * device.memory_bandwidth.bytes_per_s();
  const double one = BytesOfOneKernel(op) * passes / 2 / rate;
  return op.kernels == 0 ? one : op.kernels * (constants[kStart] + one);
}

// Adds the bytes of one kernel over the bandwidth and over L2, within the range of the samples.
void AddBytes(const Op& op, const Device& device, FeatureRow& row) {
  const double bytes = BytesOfOneKernel(op);
  row.AddLog2(bytes / device.memory_bandwidth.bytes_per_s(), 1e-7, 5e-4);
  row.AddLog2(bytes / static_cast<double>(device.l2.count()), 1e-3, 16);
}

void AddGpu(const Device& device, FeatureRow& row) {
  row.Add(device.multiprocessors);
  row.Add(device.vector_peak.flop_per_s() / device.memory_bandwidth.bytes_per_s());
  row.Add(static_cast<double>(device.l2.count()) / device.multiprocessors);
  row.Add(device.boost_clock_hz);
}

constexpr double kOnce = 2;  // passes: one in and one out

constexpr const char* kStreamFeatureNames[] = {"log2 bytes/bandwidth", "log2 bytes/L2",
                                               "multiprocessors",      "vector peak/bandwidth",
                                               "L2/multiprocessor",    "clock"};

class Stream final : public TabledFamily {
 public:
  Stream() : TabledFamily("stream", kConstants, kStreamFeatureNames) {}

  bool Covers(const Op& op, const Device&) const override {
    return op.kind == OpKind::kElementwise || op.kind == OpKind::kOptimizer;
  }

  // No sample is of an optimizer: optimizers are assumed to move bytes like elementwise kernels.
  bool IsDerived(const Op& op) const override { return op.kind == OpKind::kOptimizer; }
  double Belief(const Op&) const override { return 1; }

  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    if (!features.empty()) {
      FeatureRow row(features);
      AddBytes(op, device, row);
      AddGpu(device, row);
      CHECK(row.is_full());
    }
    return Seconds(op, kOnce, device, constants);
  }

  Learning learning() const override {
    return {.boosting = {.rounds = 150, .max_depth = 5, .l2 = 2, .absolute_scale = 0.03}};
  }
};

// Rows in flight over L2: beyond kFirstMiss some rows are read again, and beyond kSpanOfMisses
// times as much all rows are.
constexpr double kFirstMiss = 0.5;
constexpr double kSpanOfMisses = 3;
// PyTorch's softmax keeps rows up to this width in registers.
constexpr int64_t kWidestInRegisters = 1024;

double ThreadsPerMultiprocessor(Generation generation) {
  if (generation == Generation::kTuring) return 1024;
  return generation == Generation::kAda ? 1536 : 2048;
}

struct RowKernel {
  OpKind kind;
  double threads;       // that share a row in the samples
  double more_passes;   // if no row stays in L2
  int64_t widest_once;  // rows up to this width are read once
};
constexpr RowKernel kNorms = {OpKind::kNorm, 128, 1, 0};
constexpr RowKernel kSoftmaxes = {OpKind::kSoftmax, 512, 2, kWidestInRegisters};

double Passes(const RowKernel& kernel, const Op& op, const Device& device) {
  if (op.n <= kernel.widest_once) return kOnce;
  const double rows =
      device.multiprocessors * ThreadsPerMultiprocessor(device.generation) / kernel.threads;
  const double row_bytes = static_cast<double>(op.n) * ElementSize(op.dtype);
  const double in_flight = row_bytes * rows / L2OfOneMultiprocessor(device);
  const double missing = std::log(in_flight / kFirstMiss) / std::log(kSpanOfMisses);
  return kOnce + kernel.more_passes * std::clamp(missing, 0.0, 1.0);
}

constexpr const char* kRowFeatureNames[] = {"log2 bytes/bandwidth",
                                            "log2 bytes/L2",
                                            "log2 width",
                                            "log2 rows/multiprocessor",
                                            "twos in width, 3 at most",
                                            "width padded to 1024/width",
                                            "passes",
                                            "width/next power of two",
                                            "multiprocessors",
                                            "vector peak/bandwidth",
                                            "L2/multiprocessor",
                                            "clock"};

class Rows final : public TabledFamily {
 public:
  Rows(const char* name, const RowKernel& kernel)
      : TabledFamily(name, kConstants, kRowFeatureNames), kernel_(kernel) {}

  bool Covers(const Op& op, const Device&) const override { return op.kind == kernel_.kind; }

  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    const double passes = Passes(kernel_, op, device);
    if (!features.empty()) Features(op, passes, device, FeatureRow(features));
    return Seconds(op, passes, device, constants);
  }

 private:
  static void Features(const Op& op, double passes, const Device& device, FeatureRow row) {
    const auto width = static_cast<double>(op.n);
    AddBytes(op, device, row);
    row.AddLog2(width, 1, 4096);
    row.AddLog2(static_cast<double>(op.m) / device.multiprocessors, 1e-2, 64);
    row.Add(TrailingZeros(op.n, 3));
    row.Add(Blocks(width, 1024) * 1024 / width);
    row.Add(passes);
    row.Add(width / static_cast<double>(std::bit_ceil(static_cast<uint64_t>(op.n))));
    AddGpu(device, row);
    CHECK(row.is_full());
  }

  const RowKernel& kernel_;
};

}  // namespace

const KernelFamily& StreamFamily() {
  static const Stream family;
  return family;
}

const KernelFamily& NormFamily() {
  static const Rows family("norm", kNorms);
  return family;
}

const KernelFamily& SoftmaxFamily() {
  static const Rows family("softmax", kSoftmaxes);
  return family;
}

}  // namespace stagecraft
