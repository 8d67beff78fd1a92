// Synthetic samples whose truth is known, for tests of learned models.
#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/learned/sample.h"
#include "costmodel/learned/training_rows.h"
#include "costmodel/random.h"

namespace stagecraft {

// Returns a GPU type of the catalogue as it is when samples are taken: at its boost clock.
inline const Device& CatalogueGpu(const std::string& id) { return *MeasuredGpu(id); }

// Returns a number from `least` to `most` whose logarithm is uniform.
inline int64_t SizeBetween(Random& random, double least, double most) {
  return std::llround(least * std::pow(most / least, random.Uniform()));
}

// Returns the sum of four uniform draws, which is nearly normal, with the given sigma.
inline double Noise(Random& random, double sigma) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += random.Uniform() - 0.5;
  return sum * sigma * std::sqrt(3.0);
}

// time = start + work x bytes / (fraction x bandwidth), for elementwise ops; trees must learn the
// effect of `m`.
class ToyFamily : public KernelFamily {
 public:
  explicit ToyFamily(const Learning& learning = {}) : learning_(learning) {}

  const char* name() const override { return "toy"; }
  bool Covers(const Op& op, const Device&) const override {
    return op.kind == OpKind::kElementwise;
  }
  std::span<const Constant> constants() const override {
    static const Constant constants[] = {
        {"start_s", 5e-6, true, 0.5, 0.2}, {"fraction", 0.6, true, 0.3, 0.2}, {"work", 1, false}};
    return constants;
  }
  int feature_count() const override { return 3; }
  std::span<const char* const> feature_names() const override {
    static const char* const names[] = {"log bytes", "log m", "log bandwidth"};
    return names;
  }
  double Describe(const Op& op, const Device& device, std::span<const double> constants,
                  std::span<float> features) const override {
    const double bytes = static_cast<double>(op.bytes.count());
    const double bandwidth = device.memory_bandwidth.bytes_per_s();
    if (!features.empty()) {
      features[0] = static_cast<float>(std::log(bytes));
      features[1] = static_cast<float>(std::log(static_cast<double>(op.m)));
      features[2] = static_cast<float>(std::log(bandwidth));
    }
    return constants[0] + constants[2] * bytes / (constants[1] * bandwidth);
  }
  Learning learning() const override { return learning_; }

 private:
  Learning learning_;
};

// Rows, and the ops to which they point.
struct SyntheticRows {
  std::deque<Op> ops;
  std::vector<FitRow> rows;

  void Add(const Op& op, const Device& device, double log_seconds) {
    ops.push_back(op);
    rows.push_back({&ops.back(), &device, log_seconds, 0});
  }
};

inline Op RandomToyOp(Random& random) {
  Op op = Op::Elementwise(Bytes(SizeBetween(random, 1e5, 1e9)));
  op.m = SizeBetween(random, 1, 1e4);
  return op;
}

// Returns a plain 16-bit GEMM, with sizes like those of the samples.
inline Op RandomProduct(Random& random) {
  const int64_t m = SizeBetween(random, 1, 16384);
  const int64_t n = SizeBetween(random, 128, 16384);
  const int64_t k = SizeBetween(random, 128, 16384);
  return Op::Gemm(DType::kBf16, m, n, k);
}

// Returns a sample with the time that the op takes by the family's own constants, times e^error.
inline Sample SampleOf(const KernelFamily& family, const Op& op, const std::string& gpu,
                       double error) {
  Sample sample;
  sample.op = op;
  sample.gpu = gpu;
  sample.source = "test";
  const double seconds =
      family.Describe(op, CatalogueGpu(gpu), StartOf(family), {}) * std::exp(error);
  sample.time = Duration::Seconds(seconds);
  return sample;
}

}  // namespace stagecraft
