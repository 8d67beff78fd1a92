#include "costmodel/learned/fit_constants.h"

#include <algorithm>
#include <cmath>

#include "costmodel/learned/robust_fit.h"

namespace stagecraft {
namespace {

constexpr size_t kMostRows = 8000;

// Returns rows among which every GPU type has the same number, spread evenly over its own rows.
std::vector<FitRow> BalancedRows(std::span<const FitRow> rows) {
  const std::map<std::string, std::vector<FitRow>> by_gpu = ByGpu(rows);
  std::vector<FitRow> balanced;
  const size_t share = kMostRows / std::max<size_t>(1, by_gpu.size());
  for (const auto& [gpu, own] : by_gpu) {
    const std::vector<FitRow> thin = Thin(own, share);
    balanced.insert(balanced.end(), thin.begin(), thin.end());
  }
  return balanced;
}

}  // namespace

std::map<std::string, std::vector<FitRow>> ByGpu(std::span<const FitRow> rows) {
  std::map<std::string, std::vector<FitRow>> by_gpu;
  for (const FitRow& row : rows) by_gpu[row.device->id].push_back(row);
  return by_gpu;
}

std::vector<FitRow> Thin(std::span<const FitRow> rows, size_t most) {
  std::vector<FitRow> thin;
  const size_t count = std::min(most, rows.size());
  thin.reserve(count);
  for (size_t i = 0; i < count; ++i) thin.push_back(rows[i * rows.size() / count]);
  return thin;
}

std::vector<double> FitConstants(const KernelFamily& family, std::span<const double> start,
                                 std::span<const FitRow> all) {
  const std::vector<FitRow> rows = BalancedRows(all);
  std::vector<double> constants(start.begin(), start.end());
  std::vector<size_t> free;
  std::vector<double> logs;
  RobustFitOptions options{.scale = 0.15,
                           .pull = 0.3,
                           .most_sigmas = 4,
                           .step = 1e-2,  // beyond the jumps of times between tiles
                           .damping = 1e-3,
                           .least_damping = 1e-9,
                           .most_damping = 1e8,
                           .tolerance = 1e-6,
                           .most_iterations = 40};
  for (size_t i = 0; i < start.size(); ++i) {
    if (!family.constants()[i].is_fitted) continue;
    free.push_back(i);
    logs.push_back(std::log(start[i]));
    options.sigmas.push_back(family.constants()[i].sigma);
  }
  if (free.empty() || rows.empty()) return constants;
  const auto put = [&](std::span<const double> values) {
    for (size_t i = 0; i < free.size(); ++i) constants[free[i]] = std::exp(values[i]);
  };
  const auto residuals = [&](std::span<const double> values) {
    put(values);
    std::vector<double> log_ratios;
    log_ratios.reserve(rows.size());
    for (const FitRow& row : rows) {
      log_ratios.push_back(std::log(family.Describe(*row.op, *row.device, constants, {})) -
                           row.log_seconds);
    }
    return log_ratios;
  };
  put(FitRobustly(residuals, logs, options));
  return constants;
}

}  // namespace stagecraft
