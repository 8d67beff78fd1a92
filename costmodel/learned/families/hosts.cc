#include "costmodel/learned/families/hosts.h"

#include <cmath>
#include <iterator>

#include "costmodel/check.h"
#include "costmodel/learned/families/feature_row.h"
#include "costmodel/learned/families/tabled_family.h"

namespace stagecraft {
namespace {

constexpr double kElementBytes = 4;
// How far a first guess may be wrong: hosts differ very much, and a site's few samples must be able
// to move it.
constexpr double kSigma = 1;
constexpr double kCalibration = 0.5;

// Seconds.
constexpr Constant kStart = {"start_s", 0.5e-6, true, kSigma, kCalibration};

// Options for a few hundred samples, all of one CPU.
constexpr BoostingOptions kBoosting = {
    .rounds = 120, .max_depth = 4, .learning_rate = 0.1, .l2 = 2, .absolute_scale = 0.05};
constexpr Learning kLearning = {.boosting = kBoosting, .has_own_constants = true};

double Cells(const Op& op) {
  return static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k);
}

double ProductSeconds(const Op& op, const Device& device, double fraction, double edge) {
  const double edges =
      1 + edge * (1.0 / static_cast<double>(op.m) + 1.0 / static_cast<double>(op.n) +
                  1.0 / static_cast<double>(op.k));
  return 2 * Cells(op) / (fraction * device.Peak(op.dtype).flop_per_s()) * edges;
}

void AddSizes(const Op& op, FeatureRow& row) {
  for (const int64_t size : {op.m, op.n, op.k, op.batch}) {
    row.AddLog2(static_cast<double>(size), 1, 1 << 20);
  }
  row.AddLog2(Cells(op), 1, 1e12);
}

class HostFamily : public TabledFamily {
 public:
  using TabledFamily::TabledFamily;
  bool IsForHosts() const override { return true; }
  Learning learning() const override { return kLearning; }
};

constexpr const char* kProductNames[] = {"log2 m",     "log2 n",     "log2 k",
                                         "log2 batch", "log2 m n k", "log2 operands/L2"};
constexpr Constant kProductConstants[] = {
    kStart, {"fraction", 0.9, true, 0.3, kCalibration}, {"edge", 8, true, kSigma, kCalibration}};

class Products final : public HostFamily {
 public:
  Products() : HostFamily("host_product", kProductConstants, kProductNames) {}

  bool Covers(const Op& op, const Device&) const override {
    return op.kind == OpKind::kGemm || op.kind == OpKind::kConvolution;
  }
  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    CHECK(constants.size() == std::size(kProductConstants));
    const auto side = [](int64_t a, int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b);
    };
    const double bytes = kElementBytes * (side(op.m, op.k) + side(op.k, op.n) + side(op.m, op.n));
    if (!features.empty()) {
      FeatureRow row(features);
      AddSizes(op, row);
      row.AddLog2(bytes / static_cast<double>(device.l2.count()), 1e-3, 1e3);
      CHECK(row.is_full());
    }
    const double one = ProductSeconds(op, device, constants[1], constants[2]) +
                       bytes / device.memory_bandwidth.bytes_per_s();
    return constants[0] + static_cast<double>(op.batch) * one;
  }
};

constexpr const char* kAttentionNames[] = {"log2 queries", "log2 keys",  "log2 head size",
                                           "log2 heads",   "log2 cells", "backward"};
constexpr Constant kAttentionConstants[] = {kStart,
                                            {"fraction", 0.7, true, 0.3, kCalibration},
                                            {"edge", 8, true, kSigma, kCalibration},
                                            {"element_s", 3e-9, true, kSigma, kCalibration}};

class Attentions final : public HostFamily {
 public:
  Attentions() : HostFamily("host_attention", kAttentionConstants, kAttentionNames) {}

  bool Covers(const Op& op, const Device&) const override { return op.kind == OpKind::kAttention; }
  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    CHECK(constants.size() == std::size(kAttentionConstants));
    const bool is_backward = op.direction == Direction::kBackward;
    if (!features.empty()) {
      FeatureRow row(features);
      AddSizes(op, row);
      row.Add(is_backward ? 1 : 0);
      CHECK(row.is_full());
    }
    const double products = is_backward ? 5 : 2;
    const double elements = static_cast<double>(op.m) * static_cast<double>(op.n);
    const double one =
        products * ProductSeconds(op, device, constants[1], constants[2]) + elements * constants[3];
    return constants[0] + static_cast<double>(op.batch) * one;
  }
};

constexpr const char* kSparseNames[] = {"log2 m",     "log2 n",     "log2 k",
                                        "log2 batch", "log2 m n k", "log2 entries",
                                        "density",    "backward",   "log2 operands/L2"};
constexpr Constant kSparseConstants[] = {kStart,
                                         {"fraction", 0.15, true, 0.5, kCalibration},
                                         {"gradient_fraction", 0.15, true, 0.5, kCalibration},
                                         {"edge", 16, true, kSigma, kCalibration}};

class Sparse final : public HostFamily {
 public:
  Sparse() : HostFamily("host_sparse", kSparseConstants, kSparseNames) {}

  bool Covers(const Op& op, const Device&) const override { return op.kind == OpKind::kSparse; }
  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    CHECK(constants.size() == std::size(kSparseConstants));
    const bool is_backward = op.direction == Direction::kBackward;
    const auto entries = static_cast<double>(op.nonzeros);
    const double rows = static_cast<double>(op.m);
    const double sides = static_cast<double>(op.k) + static_cast<double>(op.n);
    constexpr double kIndexBytes = 4;
    const double bytes = kElementBytes * (rows * sides + entries) + kIndexBytes * entries;
    if (!features.empty()) {
      FeatureRow row(features);
      AddSizes(op, row);
      row.AddLog2(entries, 1, 1e10);
      row.Add(entries / (static_cast<double>(op.k) * static_cast<double>(op.n)));
      row.Add(is_backward ? 1 : 0);
      row.AddLog2(bytes / static_cast<double>(device.l2.count()), 1e-3, 1e3);
      CHECK(row.is_full());
    }
    const double rate = constants[is_backward ? 2 : 1] * device.Peak(op.dtype).flop_per_s();
    const double one = 2 * rows * entries / rate * (1 + constants[3] / rows) +
                       bytes / device.memory_bandwidth.bytes_per_s();
    return constants[0] + static_cast<double>(op.batch) * one;
  }
};

constexpr const char* kMoveNames[] = {"log2 bytes", "log2 bytes/L2"};
constexpr Constant kMoveConstants[] = {kStart, {"fraction", 0.9, true, 0.3, kCalibration}};

class Moves final : public HostFamily {
 public:
  Moves() : HostFamily("host_move", kMoveConstants, kMoveNames) {}

  bool Covers(const Op& op, const Device&) const override {
    return op.kind == OpKind::kElementwise || op.kind == OpKind::kOptimizer ||
           op.kind == OpKind::kNorm || op.kind == OpKind::kSoftmax;
  }
  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    CHECK(constants.size() == std::size(kMoveConstants));
    const auto bytes = static_cast<double>(op.bytes.count());
    if (!features.empty()) {
      FeatureRow row(features);
      row.AddLog2(bytes, 1, 1e12);
      row.AddLog2(bytes / static_cast<double>(device.l2.count()), 1e-6, 1e4);
      CHECK(row.is_full());
    }
    return constants[0] + bytes / (constants[1] * device.memory_bandwidth.bytes_per_s());
  }
};

}  // namespace

const KernelFamily& HostProductFamily() {
  static const Products family;
  return family;
}

const KernelFamily& HostAttentionFamily() {
  static const Attentions family;
  return family;
}

const KernelFamily& HostSparseFamily() {
  static const Sparse family;
  return family;
}

const KernelFamily& HostMoveFamily() {
  static const Moves family;
  return family;
}

}  // namespace stagecraft
