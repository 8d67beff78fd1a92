// Two models fitted to synthetic samples, of elementwise ops and of GEMMs, and their errors.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/learned/families/tensor_gemm.h"
#include "costmodel/learned/family_model.h"
#include "costmodel/learned/learned_testing.h"

namespace stagecraft {

// Sigma of the logarithm of a synthetic time.
inline constexpr double kNoise = 0.03;

inline Learning ToyLearning() {
  Learning learning;
  learning.boosting = {.rounds = 80, .max_depth = 4, .learning_rate = 0.1};
  learning.has_own_constants = true;
  learning.unknown_share = 0.5;
  return learning;
}
inline const ToyFamily& Toy() {
  static const ToyFamily family(ToyLearning());
  return family;
}

// Three GPU types that reach 0.5, 0.6 and 0.7 of their bandwidth.
inline const std::vector<std::string> kToyGpus = {"t4-16gb", "a100-sxm4-80gb", "h100-sxm5-80gb"};
inline double ToyFraction(const std::string& gpu) {
  for (size_t i = 0; i < kToyGpus.size(); ++i) {
    if (kToyGpus[i] == gpu) return 0.5 + 0.1 * static_cast<double>(i);
  }
  return 0;
}
// The correction that trees must learn.
inline double ToyCorrection(const Op& op) {
  return 0.2 * std::sin(std::log(static_cast<double>(op.m)));
}
inline double ToyTruth(const Op& op, const Device& device) {
  const double constants[] = {5e-6, ToyFraction(device.id), 1};
  return std::log(Toy().Describe(op, device, constants, {})) + ToyCorrection(op);
}
inline SyntheticRows ToyRows(int per_gpu, uint64_t seed) {
  SyntheticRows rows;
  Random random(seed);
  for (const std::string& gpu : kToyGpus) {
    for (int i = 0; i < per_gpu; ++i) {
      const Op op = RandomToyOp(random);
      const Device& device = CatalogueGpu(gpu);
      rows.Add(op, device, ToyTruth(op, device) + Noise(random, kNoise));
    }
  }
  return rows;
}
inline const FamilyModel& ToyModel() {
  static const FamilyModel model = FamilyModel::Fit(Toy(), ToyRows(500, 1).rows);
  return model;
}

// GEMMs on two GPU types differ from the times by the family's own constants by a wave in m and n.
inline double ProductCorrection(const Op& op) {
  return 0.15 * std::sin(std::log(static_cast<double>(op.m))) +
         0.1 * std::cos(2 * std::log(static_cast<double>(op.n)));
}
inline SyntheticRows ProductRows(int per_gpu, uint64_t seed) {
  SyntheticRows rows;
  Random random(seed);
  const KernelFamily& family = TensorGemmFamily();
  for (const char* gpu : {"a100-sxm4-80gb", "l40s-48gb"}) {
    for (int i = 0; i < per_gpu; ++i) {
      const Op op = RandomProduct(random);
      const Device& device = CatalogueGpu(gpu);
      const double base = std::log(family.Describe(op, device, StartOf(family), {}));
      rows.Add(op, device, base + ProductCorrection(op) + Noise(random, kNoise));
    }
  }
  return rows;
}
inline const FamilyModel& ProductModel() {
  static const FamilyModel model = FamilyModel::Fit(TensorGemmFamily(), ProductRows(200, 1).rows);
  return model;
}

inline LogTime Predict(const FamilyModel& model, const Op& op, const Device& device) {
  return model.Predict({&op, 1}, device)[0];
}

// The mean of |log(predicted / measured)|, and the share of rows within 80 % intervals.
struct Errors {
  double mean = 0;
  double coverage = 0;
};
inline Errors ErrorsOf(const FamilyModel& model, const SyntheticRows& rows) {
  Errors errors;
  const double count = static_cast<double>(rows.rows.size());
  for (const FitRow& row : rows.rows) {
    const LogTime time = Predict(model, *row.op, *row.device);
    const double error = std::abs(time.log_seconds - row.log_seconds);
    errors.mean += error / count;
    errors.coverage += (error <= kSigmas80 * time.spread ? 1 : 0) / count;
  }
  return errors;
}

}  // namespace stagecraft
