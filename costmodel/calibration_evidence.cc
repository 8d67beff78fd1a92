#include "costmodel/calibration_evidence.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "costmodel/check.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr int kLeastRows = 3;

// Student's t below which 90 % lie, by the normal quantile's expansion (Abramowitz and
// Stegun 26.7.5): within 0.04 from two degrees of freedom on.
double StudentQuantile90(double freedom) {
  constexpr double kNormal = 1.2815515655446004;
  const double z3 = kNormal * kNormal * kNormal;
  const double z5 = z3 * kNormal * kNormal;
  return kNormal + (z3 + kNormal) / (4 * freedom) +
         (5 * z5 + 16 * z3 + 3 * kNormal) / (96 * freedom * freedom);
}

}  // namespace

std::string CalibrationEvidence::Warning(const std::string& what) const {
  if (ShowsGain()) return "";
  if (rows < kLeastRows) {
    return fmt::format(
        "calibration: {} rows of {} are too few to tell whether calibration helps, want at least "
        "{}, better 20",
        rows, what, kLeastRows);
  }
  return fmt::format(
      "calibration: {} rows of {} do not show that calibration helps: the mean error of rows left "
      "out is {:.1f} % with calibration and {:.1f} % without; measure more rows, or judge by "
      "evaluate --calibrate",
      rows, what, 100 * std::expm1(with), 100 * std::expm1(without));
}

CalibrationEvidence WeighCalibration(std::span<const double> without,
                                     std::span<const double> with) {
  CHECK(without.size() == with.size());
  CalibrationEvidence evidence;
  evidence.rows = static_cast<int>(with.size());
  evidence.least_gain = -std::numeric_limits<double>::infinity();
  if (with.empty()) return evidence;
  std::vector<double> gains;
  for (size_t i = 0; i < with.size(); ++i) gains.push_back(without[i] - with[i]);
  evidence.without = Mean({without.begin(), without.end()});
  evidence.with = Mean({with.begin(), with.end()});
  if (evidence.rows < kLeastRows) return evidence;
  const double error = Sigma(gains) / std::sqrt(evidence.rows);
  evidence.least_gain = Mean(gains) - StudentQuantile90(evidence.rows - 1) * error;
  return evidence;
}

std::vector<int> LeaveOutParts(std::span<const std::string> keys) {
  std::map<std::string, int> parts;
  std::vector<int> part_of;
  for (const std::string& key : keys) {
    const int next = static_cast<int>(parts.size()) % kMostParts;
    part_of.push_back(parts.emplace(key, next).first->second);
  }
  return part_of;
}

}  // namespace stagecraft
