#include "costmodel/learned/families/tensor_gemm.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "costmodel/board_power.h"
#include "costmodel/check.h"
#include "costmodel/gemm_tiles.h"
#include "costmodel/kernel_terms.h"
#include "costmodel/learned/families/feature_row.h"
#include "costmodel/learned/families/tabled_family.h"

namespace stagecraft {
namespace {

// The tiles of gemm_tiles.h and smaller ones, which GEMMs of few rows take.
constexpr OutputTile kTiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64},
                                 {64, 32},   {32, 64},   {32, 32},   {16, 64},  {16, 32}};
constexpr double kParts[] = {1, 2, 4, 8, 16, 32};  // of the sum over k
constexpr double kShortestSplit = 128;             // steps of k
// Weights stay in L2 only if five times as many would: the samples seem to rotate five copies, and
// in a training step the other layers use L2 in between.
constexpr double kWeightPressure = 5;

enum ConstantIndex {
  kStart,        // thousands of clocks from a kernel's start to its end that are not work
  kStartMicros,  // the same in microseconds, besides
  kFillClocks,   // thousands of clocks to fill and drain a tile
  kFillSteps,    // steps of k that filling and draining take besides
  kRate,         // share of the rate at the clock that power allows
  kEdge,         // cost of loading operands, elements of k per edge element
  kLeastStep,    // fewest multiplications in a step of k, in elements of a tile
  kWaveLoss,     // lost share of the unfilled part of the last wave
  kSplitMicros,  // to add up parts
  kReduceRate,   // bytes that a multiprocessor adds up per clock
  kDram,         // reached DRAM bandwidth over the datasheet's
  kRamp,         // thousands of clocks until DRAM delivers at that bandwidth
  kStore,        // time of a byte that is written, over that of one that is read
  kL2Rate,       // L2 bandwidth over what the multiprocessors can take
  kL2Share,      // share of L2 that operands can have
  kMissPower,
  kReread,
  kSmoothPower,
  kEnergy,    // of an operation, over what board_power.h says of the generation
  kHeadroom,  // PoweredClocks
  kConstantCount
};
// Libraries have kernels for each generation, which decide the constants marked as such.
constexpr Constant kConstants[kConstantCount] = {
    {"start_kclocks", 3.6, true, .5, .12},
    {"start_us", .1, true, .3},
    {"fill_kclocks", 1, true, .8, .2, true},
    {"fill_steps", 40, true, .3, .2, true},
    {"rate", .94, true, .03, .03},
    {"edge", 10, true, .5, .3, true},
    {"least_step", 4096, true, .5, .2, true},
    {"wave_loss", .15, true, .8, .5, true},
    {"split_us", 2, true, .5, .2, true},
    {"reduce_rate", 40, true, .8},
    {"dram", .82, true, .08, .04},
    {"ramp_kclocks", 1.3, true, .5, .4},
    {"store", 1.15, true, .4, .2},
    {"l2_rate", .45, true, .8, .15},
    {"l2_share", .9, true, .1, .05},
    {"miss_power", 5, true, .5},
    {"reread", 1, true, .7},
    {"smooth_power", 2.6, true, .3},
    {"energy", 1, true, .3, .15},
    {"headroom", kPowerHeadroom, true, .1, .06},
};
// A step of k cannot be shorter than it takes to issue it, so wide tensor cores waste more of it:
// least_step is that of 4,096 FLOPs per multiprocessor and clock.
constexpr double kLeastStepWidth = 4096;
constexpr double kLeastStepPower = 0.3;
// Chips beside the GPU keep their error-correcting codes among the data, a sixteenth of the bytes.
constexpr double kGddrEfficiency = 15.0 / 16;

constexpr OutputTile kFeatureTiles[] = {{256, 128}, {128, 256}, {128, 128},
                                        {256, 256}, {128, 64},  {64, 64}};
constexpr const char* kFeatureNames[] = {
    "log_m",         "log_n",         "log_k",          "log_time",      "compute_share",
    "memory_share",  "start_share",   "miss",           "rereads",       "tile",
    "split",         "waves",         "wave_padding",   "l2_pressure",   "intensity",
    "waves_0",       "waves_1",       "waves_2",        "waves_3",       "waves_4",
    "waves_5",       "padding_0",     "padding_1",      "padding_2",     "padding_3",
    "padding_4",     "padding_5",     "m_padding_64",   "m_padding_128", "m_padding_256",
    "n_padding_128", "n_padding_256", "above_roofline", "work_per_sm",   "log_mn",
    "log_mk",        "log_nk",        "log_m_over_n",   "log_n_over_k",  "tile_time",
    "weight_time",   "output_time",   "input_time",     "rate_per_sm",   "dram_per_sm",
    "l2_per_sm",     "ridge"};

// The sizes of an op as doubles, since they are multiplied.
struct Problem {
  double batch, m, n, k, traffic, weights, outputs, inputs;
  double unaligned_clocks;  // that the loads of unaligned rows take at least; 0 if aligned
};

Problem ProblemOf(const Op& op, const Device& device) {
  const double e = ElementSize(op.dtype);
  // GEMMs of fewer bits write 16-bit results.
  const double out = std::max(e, 2.0);
  Problem p;
  p.batch = static_cast<double>(op.batch);
  // Recurrent layers multiply the rows of one time step after another.
  const int64_t kernels = op.kind == OpKind::kGemm ? std::max(1, op.kernels) : 1;
  p.m = static_cast<double>(std::max<int64_t>(1, op.m / kernels));
  p.n = static_cast<double>(op.n);
  p.k = static_cast<double>(op.k);
  p.weights = e * p.batch * p.n * p.k;
  p.outputs = out * p.batch * p.m * p.n;
  p.inputs = e * p.batch * p.m * p.k;
  p.traffic = p.weights + p.outputs + p.inputs;
  // The windows of a convolution overlap: it reads less than m x k.
  if (op.kind == OpKind::kConvolution) {
    p.traffic = std::max(1.0, static_cast<double>(op.bytes.count()));
    p.inputs = std::max(1.0, p.traffic - p.weights - p.outputs);
    p.k /= device.convolution_share;
  }
  p.unaligned_clocks = UnalignedClocks(op, device) / static_cast<double>(kernels);
  return p;
}

struct Structure {
  double total, compute, memory, start, waves, miss, rereads;
  int tile, split;
};

class TensorGemm final : public TabledFamily {
 public:
  TensorGemm() : TabledFamily("tensor_gemm", kConstants, kFeatureNames) {}

  bool Covers(const Op& op, const Device&) const override {
    return (op.kind == OpKind::kGemm || op.kind == OpKind::kConvolution) &&
           op.dtype != DType::kFp32;
  }
  bool IsDerived(const Op& op) const override {
    const bool is_16_bit = op.dtype == DType::kBf16 || op.dtype == DType::kFp16;
    const bool is_aligned = op.alignment == kAlignedBytes;
    return !is_16_bit || !is_aligned || op.kind == OpKind::kConvolution || op.batch > 1 ||
           op.kernels > 1;
  }
  double LeastTime(const Op& op, const Device& device, std::span<const double> c) const override {
    return op.Flops().count() / (AtOnceRate(device, op.dtype, c) * c[kRate]);
  }
  Learning learning() const override {
    Learning learning;
    learning.boosting = {.rounds = 100,
                         .max_depth = 12,
                         .learning_rate = 0.14,
                         .min_child_weight = 5,
                         .column_fraction = 0.5,
                         .absolute_scale = 0.03};
    learning.has_own_constants = true;
    learning.unknown_share = 0.5;
    learning.correction_low = -0.35;
    learning.correction_high = 0.8;
    learning.grows = true;
    learning.spread_of_doubling = 0.01;
    return learning;
  }

  double Describe(const Op& op, const Device& device, std::span<const double> c,
                  std::span<float> features) const override {
    const Problem p = ProblemOf(op, device);
    const Structure s = Evaluate(p, device, op.dtype, c);
    if (!features.empty()) {
      const Problem seen = Clamp(p);
      Fill(seen, Evaluate(seen, device, op.dtype, c), device, op.dtype, c, FeatureRow(features));
    }
    const int kernels = op.kind == OpKind::kGemm ? std::max(1, op.kernels) : 1;
    return kernels * s.total;
  }

 private:
  static PoweredClocks Clocks(const Device& device, DType dtype, std::span<const double> c) {
    return ClocksOf(device, dtype, c[kEnergy], c[kHeadroom]);
  }
  // FLOP/s of the device at the clock at which short kernels run.
  static double AtOnceRate(const Device& device, DType dtype, std::span<const double> c) {
    CHECK(device.Peak(dtype).flop_per_s() > 0);
    return FlopPerClock(device, dtype) * Clocks(device, dtype, c).at_once;
  }

  static Structure Evaluate(const Problem& p, const Device& device, DType dtype,
                            std::span<const double> c) {
    const double sms = device.multiprocessors;
    const double clock = device.boost_clock_hz;
    const double kiloclock = 1e3 / clock;
    const PoweredClocks clocks = Clocks(device, dtype, c);
    const double flop = FlopPerClock(device, dtype);
    const double rate = flop * c[kRate] / sms * clocks.at_once;
    const double least_step =
        c[kLeastStep] * std::pow(flop / sms / kLeastStepWidth, kLeastStepPower);
    Structure s{};
    s.compute = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < std::size(kTiles); ++t) {
      const OutputTile tile = kTiles[t];
      const double tiles = p.batch * Blocks(p.m, tile.m) * Blocks(p.n, tile.n);
      const double step =
          2 * std::max(tile.m * tile.n + c[kEdge] * (tile.m + tile.n), least_step) / rate;
      const double fill = c[kFillClocks] * kiloclock + c[kFillSteps] * step;
      for (size_t i = 0; i < std::size(kParts); ++i) {
        const double parts = kParts[i];
        const double w0 = tiles * parts / sms;
        const double waves = CostOfWaves(w0, c[kWaveLoss]);
        const double steps = parts == 1 ? p.k : std::max(p.k / parts, kShortestSplit);
        double time = waves * (steps * step + fill);
        if (parts > 1) {
          time += c[kSplitMicros] * 1e-6 +
                  p.batch * p.m * p.n * 4 * parts / (c[kReduceRate] * clock * sms);
        }
        if (time < s.compute) {
          s.compute = time;
          s.tile = static_cast<int>(t);
          s.split = static_cast<int>(i);
          s.waves = w0;
        }
      }
    }
    s.compute = std::max(clocks.Slowed(s.compute), p.unaligned_clocks / clocks.at_once);
    const double dram = device.memory_bandwidth.bytes_per_s() *
                        (device.memory_kind == MemoryKind::kGddr ? kGddrEfficiency : 1);
    const double l2 = c[kL2Share] * L2OfOneMultiprocessor(device);
    const double pressure = (kWeightPressure * p.weights + p.inputs + p.outputs) / l2;
    s.miss = 1 / (1 + std::pow(pressure, -c[kMissPower]));
    // Tiles that cannot keep their operands read them again: as often as a square block of 16,384
    // numbers on each multiprocessor would.
    const double e = ElementSize(dtype);
    const double blocked = p.batch * e * (2 * p.m * p.n * p.k / std::sqrt(sms * 16384) + p.m * p.n);
    const double panel = e * std::min(p.m, p.n) * p.k / l2;
    s.rereads =
        std::max(0.0, blocked - p.traffic) / (1 + std::pow(panel, -c[kMissPower])) * c[kReread];
    const double l2_rate = std::max(L2BytesPerSecond(device) * c[kL2Rate], c[kDram] * dram);
    const double moved = p.traffic + (c[kStore] - 1) * p.outputs;
    s.memory = (moved * s.miss + s.rereads) / (c[kDram] * dram) + moved * (1 - s.miss) / l2_rate +
               s.miss * c[kRamp] * kiloclock;
    s.start = c[kStart] * kiloclock + c[kStartMicros] * 1e-6;
    s.rereads /= p.traffic;
    s.total = s.start + SmoothMax(s.compute, s.memory, c[kSmoothPower]);
    return s;
  }

  // Trees know nothing about sizes beyond the samples: 1 to 32,768 rows, 32 to 65,536 columns and
  // steps of k.
  static Problem Clamp(Problem p) {
    const double m = std::clamp(p.m, 1.0, 32768.0) / p.m;
    const double n = std::clamp(p.n, 32.0, 65536.0) / p.n;
    const double k = std::clamp(p.k, 32.0, 65536.0) / p.k;
    p.m *= m, p.n *= n, p.k *= k;
    p.weights *= n * k, p.outputs *= m * n, p.inputs *= m * k;
    p.traffic = p.weights + p.outputs + p.inputs;
    // All samples are aligned.
    p.unaligned_clocks = 0;
    return p;
  }

  static void Fill(const Problem& p, const Structure& s, const Device& device, DType dtype,
                   std::span<const double> c, FeatureRow row) {
    const double sms = device.multiprocessors;
    const double clock = device.boost_clock_hz;
    const double rate = AtOnceRate(device, dtype, c);
    const double peak = device.Peak(dtype).flop_per_s();
    const double dram = device.memory_bandwidth.bytes_per_s();
    const double l2 = L2OfOneMultiprocessor(device);
    const double flops = 2 * p.batch * p.m * p.n * p.k;
    const auto put = [&](double value) { row.Add(value); };
    const double lm = std::log(p.m), ln = std::log(p.n), lk = std::log(p.k);
    put(lm), put(ln), put(lk);
    put(std::log(s.total * 1e6));
    put(std::log(s.compute / s.total)), put(std::log(s.memory / s.total));
    put(std::log(s.start / s.total));
    put(s.miss), put(std::min(s.rereads, 20.0));
    put(s.tile), put(s.split);
    put(std::log(std::max(s.waves, .01))), put(std::min(Ceil(s.waves) / s.waves, 1e6));
    put(std::log((kWeightPressure * p.weights + p.inputs + p.outputs) / l2));
    put(std::log(flops / p.traffic / (rate / dram)));
    double waves[std::size(kFeatureTiles)];
    for (size_t t = 0; t < std::size(kFeatureTiles); ++t) {
      waves[t] = p.batch * Ceil(p.m / kFeatureTiles[t].m) * Ceil(p.n / kFeatureTiles[t].n) / sms;
      put(std::log(waves[t]));
    }
    for (const double w : waves) put(w < 64 ? std::min(Ceil(w) / w, 8.0) : 1.0);
    for (const double a : {64, 128, 256}) put(std::log(Ceil(p.m / a) * a / p.m));
    for (const double a : {128, 256}) put(std::log(Ceil(p.n / a) * a / p.n));
    put(std::log(s.total / std::max(flops / peak, p.traffic / dram)));
    put(std::log(p.batch * Ceil(p.m / 128) * Ceil(p.n / 128) * p.k / sms));
    put(lm + ln), put(lm + lk), put(ln + lk), put(lm - ln), put(ln - lk);
    put(std::log(p.k * 64 * 64 / (rate / sms) * 1e6));
    put(std::log(p.weights / dram * 1e6)), put(std::log(p.outputs / dram * 1e6));
    put(std::log(p.inputs / dram * 1e6));
    put(std::log(rate / sms / clock)), put(std::log(dram / sms / clock));
    put(std::log(l2 / sms)), put(std::log(rate / dram));
    CHECK(row.is_full());
  }
};

}  // namespace

const KernelFamily& TensorGemmFamily() {
  static const TensorGemm family;
  return family;
}

}  // namespace stagecraft
