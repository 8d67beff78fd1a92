#include "costmodel/learned/families/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "costmodel/attention_version.h"
#include "costmodel/board_power.h"
#include "costmodel/check.h"
#include "costmodel/kernel_terms.h"
#include "costmodel/learned/families/feature_row.h"
#include "costmodel/learned/families/tabled_family.h"

namespace stagecraft {
namespace {

enum ConstantIndex {
  kRateFraction,
  kFillKeys,
  kExponentials,
  kStart,
  kPerSequence,
  kMemory,
  kStore,
  kWaveLoss,
  kOverlapPower,
  kL2Share,
  kL2Cost,
  kTail,
  kBlock,
};
// The constants are those before any fit.
constexpr Constant kConstants[] = {
    {"rate_fraction", 0.95},   // of the sustained rate, beside exponentials
    {"fill_keys", 5.6},        // work to start a block, in keys
    {"exponentials", 0.6},     // of the time of exponentials that nothing hides
    {"start_s", 11.0e-6},      // a call of a serving framework
    {"sequence_s", 0.031e-6},  // its preparation of a sequence
    {"memory", 1.09},          // over the time of reading each operand once
    {"store", 0.736},          // over the time of reading and writing keys and values once
    {"wave_loss", 1.16},       // of an unfilled last wave, falling with waves
    {"overlap_power", 1.825},  // of smooth_max
    {"l2_share", 0.277},       // share of L2 that keeps data for their next use
    {"l2_cost", 3.29},         // of bytes over L2's bandwidth
    {"tail", 0.688},           // of the last block's keys
    {"block_clocks", 100}};    // of a multiprocessor, to start a block

// A block of a vendor's kernel takes about 3 us before the first keys, whatever the head size.
constexpr auto kFusedConstants = [] {
  auto constants = std::to_array(kConstants);
  constants[kStart].value = 9e-6;
  constants[kStore].value = 0.2;
  constants[kBlock].value = 6000;
  return constants;
}();

// Triton's kernel was measured with heads of 192 alone, on a single GPU type.
constexpr auto kTritonConstants = [] {
  auto constants = std::to_array(kConstants);
  constants[kRateFraction].value = 0.05;
  constants[kBlock].value = 30000;
  return constants;
}();

constexpr const char* kFeatureNames[] = {"log2 queries",
                                         "log2 sequences",
                                         "log2 heads/key heads",
                                         "head size",
                                         "log2 waves",
                                         "whole waves/waves",
                                         "compute/time",
                                         "memory/time",
                                         "store/time",
                                         "start/time",
                                         "log2 time",
                                         "log2 heads",
                                         "log2 key heads",
                                         "log2 keys and values/L2",
                                         "log2 keys and values in flight/L2",
                                         "log2 key heads of all sequences",
                                         "part of a block of queries",
                                         "converts keys",
                                         "multiprocessors",
                                         "peak/bandwidth",
                                         "L2/multiprocessor",
                                         "peak/multiprocessor/clock",
                                         "clock"};

// Tensor cores wait for softmax, so they take less power than in a GEMM: what they reach of their
// rate here over what they reach there.
constexpr double kEnergy = 0.65;
constexpr double kRows = 128;       // queries in a block
constexpr double kFusedRows = 256;  // in a block of a vendor's kernel
constexpr double kFewestRows = 64;  // the fewest on which a block works
constexpr double kKeys = 64;        // keys in one step
constexpr double kFewestKeys = 16;  // keys in a GEMM on tensor cores, at least

// Backward: 5 GEMMs in place of 2, at 0.8 of forward's rate (Dao, FlashAttention-2, 2023, figures
// for an A100). It reads queries, keys, values, output and its gradient, writes three gradients and
// adds up one of them in 32 bits.
constexpr double kBackwardCompute = 2.5 / 0.8;
constexpr double kBackwardMemory = 3;
constexpr int kBackwardKernels = 3;

struct Shape {
  Shape(const Op& op, double block_rows)
      : rows(block_rows),
        heads(static_cast<double>(op.batch)),
        key_heads(static_cast<double>(op.kv_batch > 0 ? op.kv_batch : op.batch)),
        sequences(static_cast<double>(op.sequences)),
        queries(static_cast<double>(op.m)),
        keys(static_cast<double>(op.n)),
        head_size(static_cast<double>(op.k)),
        element(ElementSize(op.dtype)),
        is_causal(op.causal),
        converts_keys(op.converts_keys) {}

  double key_value_bytes() const { return 2 * element * key_heads * keys * head_size; }
  double query_bytes() const { return 2 * element * heads * queries * head_size; }
  // Returns the number of keys that the mean block of queries sees.
  double MeanKeys() const {
    if (!is_causal || keys <= rows) return std::max(keys, kFewestKeys);
    return (Blocks(keys, rows) + 1) / 2 * rows;
  }

  double rows;       // queries in a block
  double heads;      // of all sequences
  double key_heads;  // likewise
  double sequences;
  double queries;
  double keys;
  double head_size;
  double element;  // bytes
  bool is_causal;
  bool converts_keys;
};

struct Terms {
  double start;
  double waves;
  double compute;
  double memory;
  double store;
  double overlap_power;
  double seconds;  // of a serving call

  double Both() const { return SmoothMax(compute, memory, overlap_power); }
};

double Compute(const Shape& shape, const Device& device, DType dtype, double waves,
               std::span<const double> constants) {
  const double lossy = waves + constants[kWaveLoss] * (std::ceil(waves) - waves) / (1 + waves);
  const double mean = shape.MeanKeys() + constants[kFillKeys];
  const double longest =
      constants[kTail] * kKeys * Blocks(shape.keys, kKeys) + constants[kFillKeys];
  const double queries = std::clamp(shape.queries, kFewestRows, shape.rows);
  const PoweredClocks clocks = ClocksOf(device, dtype, kEnergy);
  const double rate = FlopPerClock(device, dtype) * clocks.at_once * constants[kRateFraction];
  const double exponentials = device.exponentials_per_clock * clocks.at_once;
  const double per_key = 4 * queries * shape.head_size * device.multiprocessors / rate +
                         constants[kExponentials] * queries / exponentials;
  const double starts = lossy * constants[kBlock] / device.boost_clock_hz;
  return starts + clocks.Slowed(std::max(lossy * mean, longest) * per_key);
}

Terms TermsOf(const Shape& shape, const Device& device, DType dtype,
              std::span<const double> constants) {
  CHECK(device.Peak(dtype).flop_per_s() > 0 && constants.size() == std::size(kConstants));
  const double key_value_bytes = shape.key_value_bytes();
  const double bytes = shape.query_bytes() + key_value_bytes;
  const double kept = constants[kL2Share] * static_cast<double>(device.l2.count());
  const double missed = std::max(0.0, 1 - kept / (bytes + key_value_bytes));
  const double seconds_per_byte = missed / device.memory_bandwidth.bytes_per_s() +
                                  constants[kL2Cost] / L2BytesPerSecond(device);
  Terms terms;
  terms.start = constants[kStart] + constants[kPerSequence] * shape.sequences;
  terms.waves = shape.heads * Blocks(shape.queries, shape.rows) / device.multiprocessors;
  terms.compute = Compute(shape, device, dtype, terms.waves, constants);
  terms.memory = constants[kMemory] * bytes * seconds_per_byte;
  terms.store = constants[kStore] * 2 * key_value_bytes * seconds_per_byte;
  terms.overlap_power = std::max(1.0, constants[kOverlapPower]);
  terms.seconds = terms.start + terms.Both() + terms.store;
  return terms;
}

// `terms` are those of the version that the family knows.
double Seconds(const Op& op, const Device& device, Terms terms, std::span<const double> constants) {
  terms.compute *= VersionSlowness(op, device);
  if (op.direction == Direction::kBackward) {
    terms.compute *= kBackwardCompute;
    terms.memory *= kBackwardMemory;
    return kBackwardKernels * kKernelStartSeconds + terms.Both();
  }
  const bool is_serving = op.use == AttentionUse::kServing;
  return terms.start + terms.Both() + (is_serving ? terms.store : -constants[kStart] / 2);
}

void Features(const Shape& shape, const Device& device, FlopRate peak, const Terms& terms,
              FeatureRow row) {
  const double key_value_bytes = shape.key_value_bytes();
  const auto l2 = static_cast<double>(device.l2.count());
  const double log_sequences = std::log2(shape.sequences);
  const double log_heads = std::log2(shape.heads);
  const double log_key_heads = std::log2(shape.key_heads);
  row.Add(std::log2(shape.queries));
  row.Add(log_sequences);
  row.Add(log_heads - log_key_heads);
  row.Add(shape.head_size);
  row.AddLog2(terms.waves, 1.0 / 256, 256);
  row.Add(terms.waves < 64 ? std::min(std::ceil(terms.waves) / terms.waves, 8.0) : 1);
  row.Add(terms.compute / terms.seconds);
  row.Add(terms.memory / terms.seconds);
  row.Add(terms.store / terms.seconds);
  row.Add(terms.start / terms.seconds);
  row.AddLog2(terms.seconds, 1e-6, 1e-2);
  row.Add(log_heads - log_sequences);
  row.Add(log_key_heads - log_sequences);
  row.AddLog2(key_value_bytes / l2, 1e-4, 16);
  row.AddLog2(2 * shape.element * shape.keys * shape.head_size * device.multiprocessors / l2, 1e-4,
              16);
  row.Add(log_key_heads);
  const double blocks = shape.queries / kRows;
  row.Add(blocks - std::floor(blocks));
  row.Add(shape.converts_keys ? 1 : 0);
  row.AddDevice(device, peak);
  CHECK(row.is_full());
}

class Attention final : public TabledFamily {
 public:
  // `bits` are those of the number formats, `rows` the queries in a block.
  Attention(const char* name, AttentionKernel kernel, std::set<int> bits, double rows,
            std::span<const Constant> constants)
      : TabledFamily(name, constants, kFeatureNames),
        kernel_(kernel),
        bits_(std::move(bits)),
        rows_(rows) {}

  // The samples are serving calls: whole causal forwards of the versions written for their GPUs.
  bool IsDerived(const Op& op) const override {
    return op.use == AttentionUse::kTraining || op.direction == Direction::kBackward ||
           !op.causal || op.m != op.n || op.attention_kernel == AttentionKernel::kFlash1 ||
           op.attention_kernel == AttentionKernel::kFlash2;
  }
  double Belief(const Op& op) const override {
    return op.direction == Direction::kBackward ? 0 : 1;
  }
  bool Covers(const Op& op, const Device& device) const override {
    return op.kind == OpKind::kAttention && KernelOn(op, device) == kernel_ &&
           bits_.contains(ElementBits(op.dtype));
  }

  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    const Shape shape(op, rows_);
    const FlopRate peak = device.Peak(op.dtype);
    const Terms terms = TermsOf(shape, device, op.dtype, constants);
    if (!features.empty()) Features(shape, device, peak, terms, FeatureRow(features));
    return Seconds(op, device, terms, constants);
  }

  Learning learning() const override {
    return {
        .boosting = {
            .rounds = 300, .max_depth = 5, .min_child_weight = 4, .l2 = 2, .absolute_scale = 0.03}};
  }

 private:
  const AttentionKernel kernel_;
  const std::set<int> bits_;
  const double rows_;
};

}  // namespace

const KernelFamily& AttentionFamily() {
  static const Attention family("attention", AttentionKernel::kFlash, {16}, kRows, kConstants);
  return family;
}

const KernelFamily& AttentionOf8BitsFamily() {
  static const Attention family("attention_8_bits", AttentionKernel::kFlash, {8}, kRows,
                                kConstants);
  return family;
}

const KernelFamily& FusedAttentionFamily() {
  static const Attention family("fused_attention", AttentionKernel::kFused, {16}, kFusedRows,
                                kFusedConstants);
  return family;
}

const KernelFamily& FusedAttentionOf8BitsFamily() {
  static const Attention family("fused_attention_8_bits", AttentionKernel::kFused, {8}, kFusedRows,
                                kFusedConstants);
  return family;
}

const KernelFamily& TritonAttentionFamily() {
  static const Attention family("triton_attention", AttentionKernel::kTriton, {8, 16}, kRows,
                                kTritonConstants);
  return family;
}

AttentionKernel KernelOn(const Op& op, const Device& device) {
  switch (op.attention_kernel) {
    case AttentionKernel::kFused:
    case AttentionKernel::kTriton:
      return op.attention_kernel;
    case AttentionKernel::kFlash:
    case AttentionKernel::kFlash1:
    case AttentionKernel::kFlash2:
    case AttentionKernel::kFlash3:
      return AttentionKernel::kFlash;
    case AttentionKernel::kUsual:
    case AttentionKernel::kCudnn:
      break;
  }
  const bool has_fused = device.generation == Generation::kBlackwell;
  return has_fused ? AttentionKernel::kFused : AttentionKernel::kFlash;
}

}  // namespace stagecraft
