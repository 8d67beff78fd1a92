#include "sim/dynamics/pruning.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

double KeptShare(const LayerWeights& layer, double threshold) {
  return std::erfc(threshold / (layer.sigma * std::numbers::sqrt2));
}

}  // namespace

int64_t LastPruning(const SparsitySchedule& schedule, int64_t step) {
  const int64_t last = std::min(step, schedule.end_step - 1);
  if (last < schedule.first_step) return -1;
  return last - (last - schedule.first_step) % schedule.interval;
}

double SparsityAt(const SparsitySchedule& schedule, int64_t step) {
  const double done = static_cast<double>(step - schedule.first_step) /
                      static_cast<double>(schedule.end_step - schedule.first_step);
  const double left = 1 - done;
  return schedule.final + (schedule.initial - schedule.final) * left * left * left;
}

std::vector<double> KeptByMagnitude(std::span<const LayerWeights> layers, double sparsity) {
  CHECK(sparsity >= 0 && sparsity < 1);
  double all = 0, widest = 0;
  for (const LayerWeights& layer : layers) {
    all += layer.count;
    widest = std::max(widest, layer.sigma);
  }
  // What is kept falls with the threshold, from everything at 0 to below 1e-300 at 38 sigma.
  double low = 0, high = 38 * widest;
  for (int i = 0; i < 200 && sparsity > 0; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    double kept = 0;
    for (const LayerWeights& layer : layers) kept += layer.count * KeptShare(layer, middle);
    (kept > (1 - sparsity) * all ? low : high) = middle;
  }
  std::vector<double> shares;
  for (const LayerWeights& layer : layers) shares.push_back(KeptShare(layer, low));
  return shares;
}

}  // namespace stagecraft
