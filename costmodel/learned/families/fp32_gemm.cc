#include "costmodel/learned/families/fp32_gemm.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "costmodel/board_power.h"
#include "costmodel/check.h"
#include "costmodel/gemm_tiles.h"
#include "costmodel/kernel_terms.h"
#include "costmodel/learned/families/feature_row.h"
#include "costmodel/learned/families/tabled_family.h"
#include "costmodel/learned/families/tile_features.h"

namespace stagecraft {
namespace {

enum ConstantIndex { kEdge, kWaveLoss, kSplitSeconds, kMemoryFraction, kOverlapPower };
// The same constants as in costmodel/kernel_model.h. If they are fitted again with a rate for each
// GPU type, the edge grows without limit, and a GPU type without samples is predicted no better.
constexpr Constant kConstants[] = {{"edge", 19.4, false},
                                   {"wave_loss", 0.13, false},
                                   {"split_s", 3.57e-6, false},
                                   {"memory_fraction", 0.79, false},
                                   {"overlap_power", 2.44, false}};

// In the order of Features(). "r" is a tile's time over the whole time, "w" its waves.
constexpr const char* kFeatureNames[] = {"log2 batch",
                                         "log2 m",
                                         "log2 n",
                                         "log2 k",
                                         "log2 m/n",
                                         "log2 k/n",
                                         "log2 k/m",
                                         "ln compute/memory",
                                         "ln peak time/time",
                                         "twos in m, 3 at most",
                                         "twos in n, 3 at most",
                                         "twos in k, 3 at most",
                                         "log2 left/L2",
                                         "log2 right/L2",
                                         "log2 out/L2",
                                         "log2 time",
                                         "multiprocessors",
                                         "peak/bandwidth",
                                         "L2/multiprocessor",
                                         "peak/multiprocessor/clock",
                                         "clock",
                                         "r128x128",
                                         "w128x128",
                                         "r128x64",
                                         "w128x64",
                                         "r64x128",
                                         "r128x32",
                                         "r32x128",
                                         "r64x64",
                                         "w64x64",
                                         "r64x32",
                                         "r32x32",
                                         "w32x32",
                                         "r256x128",
                                         "twos in k",
                                         "twos in n",
                                         "twos in m"};

// Bounds of features, which are those of the samples or a little wider.
constexpr double kMostBatch = 1024;
constexpr double kMostRows = 8192;
constexpr double kMostColumns = 65536;
constexpr double kLeastOfL2 = 1e-3;
constexpr double kMostOfL2 = 64;
constexpr double kShortestSeconds = 1e-6;
constexpr double kLongestSeconds = 5e-2;
constexpr int kAlignment = 3;       // 8 numbers: 32 bytes, a sector
constexpr int kWideAlignment = 12;  // strides of large powers of two probably conflict

constexpr double kElement = ElementSize(DType::kFp32);

struct Terms {
  double compute;
  double memory;
  double seconds;
};

Terms TermsOf(const Product& product, const Device& device, std::span<const double> constants) {
  const double peak = device.Peak(DType::kFp32).flop_per_s();
  CHECK(peak > 0 && constants.size() == std::size(kConstants));
  const TileCosts costs = {constants[kEdge], 0, constants[kWaveLoss], constants[kSplitSeconds]};
  const PoweredClocks clocks = ClocksOf(device, DType::kFp32);
  const double rate =
      IssuedShare(device.generation) * peak * clocks.at_once / device.boost_clock_hz;
  Terms terms;
  terms.compute = clocks.Slowed(TiledSeconds(product, costs, rate, device.multiprocessors));
  terms.memory = kElement * product.elements() /
                 (constants[kMemoryFraction] * device.memory_bandwidth.bytes_per_s());
  terms.seconds = SmoothMax(terms.compute, terms.memory, constants[kOverlapPower]);
  return terms;
}

void Features(const Op& op, const Product& product, const Device& device, const Terms& terms,
              FeatureRow row) {
  const double peak = device.Peak(DType::kFp32).flop_per_s();
  const auto m = static_cast<int64_t>(product.m);
  const double log_m = FeatureRow::Log2Within(product.m, 1, kMostRows);
  const double log_n = FeatureRow::Log2Within(product.n, 1, kMostColumns);
  const double log_k = FeatureRow::Log2Within(product.k, 1, kMostColumns);
  row.AddLog2(product.batch, 1, kMostBatch);
  row.Add(log_m);
  row.Add(log_n);
  row.Add(log_k);
  row.Add(log_m - log_n);
  row.Add(log_k - log_n);
  row.Add(log_k - log_m);
  row.Add(std::log(terms.compute / terms.memory));
  row.Add(std::log(product.flops() / peak / terms.seconds));
  row.Add(TrailingZeros(m, kAlignment));
  row.Add(TrailingZeros(op.n, kAlignment));
  row.Add(TrailingZeros(op.k, kAlignment));
  const double l2_elements = static_cast<double>(device.l2.count()) / kElement;
  row.AddLog2(product.left_elements() / l2_elements, kLeastOfL2, kMostOfL2);
  row.AddLog2(product.right_elements() / l2_elements, kLeastOfL2, kMostOfL2);
  row.AddLog2(product.out_elements() / l2_elements, kLeastOfL2, kMostOfL2);
  row.AddLog2(terms.seconds, kShortestSeconds, kLongestSeconds);
  row.AddDevice(device, device.Peak(DType::kFp32));
  AddTileFeatures(product, peak, device.multiprocessors, terms.seconds, row);
  row.Add(TrailingZeros(op.k, kWideAlignment));
  row.Add(TrailingZeros(op.n, kWideAlignment));
  row.Add(TrailingZeros(m, kWideAlignment));
  CHECK(row.is_full());
}

class Fp32GemmFamily final : public TabledFamily {
 public:
  Fp32GemmFamily(const char* name, bool is_batched)
      : TabledFamily(name, kConstants, kFeatureNames), is_batched_(is_batched) {}

  bool Covers(const Op& op, const Device&) const override {
    return op.kind == OpKind::kGemm && op.dtype == DType::kFp32 && (op.batch > 1) == is_batched_;
  }

  // Recurrent layers are one GEMM for each time step; no such sequence was measured.
  bool IsDerived(const Op& op) const override { return op.kernels > 1; }
  double Belief(const Op&) const override { return 1; }

  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    const Product product = ProductOfOneKernel(op);
    const Terms terms = TermsOf(product, device, constants);
    if (!features.empty()) Features(op, product, device, terms, FeatureRow(features));
    return op.kernels * terms.seconds;
  }

  // A GPU type without samples gets the structure alone: trees of other types mislead.
  Learning learning() const override {
    return {.boosting = {.rounds = 300,
                         .max_depth = 8,
                         .learning_rate = 0.06,
                         .min_child_weight = 10,
                         .column_fraction = 0.5,
                         .l2 = 2,
                         .absolute_scale = 0.03}};
  }
  // Layers of real networks have aligned rows, which few of the random samples have.
  double Weight(const Op& op) const override { return op.n % 4 == 0 && op.k % 4 == 0 ? 4 : 1; }

 private:
  bool is_batched_;
};

}  // namespace

const KernelFamily& Fp32LinearFamily() {
  static const Fp32GemmFamily family("fp32_linear", false);
  return family;
}

const KernelFamily& Fp32BmmFamily() {
  static const Fp32GemmFamily family("fp32_bmm", true);
  return family;
}

}  // namespace stagecraft
