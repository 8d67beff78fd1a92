#include "costmodel/calibration_evidence.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <map>

#include "costmodel/check.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr int kLeastRows = 3;

// Returns the quantile of Student's t below which 90 % lie, by an expansion of the normal quantile
// (Abramowitz and Stegun 26.7.5): within 0.04 from two degrees of freedom on.
double StudentQuantile90(double freedom) {
  constexpr double kNormal = 1.2815515655446004;
  const double z3 = kNormal * kNormal * kNormal;
  const double z5 = z3 * kNormal * kNormal;
  return kNormal + (z3 + kNormal) / (4 * freedom) +
         (5 * z5 + 16 * z3 + 3 * kNormal) / (96 * freedom * freedom);
}

// The parts of a warning.
struct Words {
  const char *opening, *claim, *with, *without, *advice;
};

const Words& WordsOf(LearnedBy learned_by) {
  static constexpr Words kOfCalibration = {"calibration", "calibration helps", "with calibration",
                                           "without", "judge by evaluate --calibrate"};
  static constexpr Words kOfFit = {
      "fit", "a model fitted to them predicts better than the shipped one",
      "of models fitted to the others", "of the shipped one", "give them to --calibrate"};
  return learned_by == LearnedBy::kCalibration ? kOfCalibration : kOfFit;
}

}  // namespace

std::string CalibrationEvidence::Warning(const std::string& what, LearnedBy learned_by) const {
  if (ShowsGain()) return "";
  const Words& words = WordsOf(learned_by);
  if (rows < kLeastRows) {
    return fmt::format(
        "{}: {} rows of {} are too few to tell whether {}, want at least {}, better 20",
        words.opening, rows, what, words.claim, kLeastRows);
  }
  return fmt::format(
      "{}: {} rows of {} do not show that {}: the mean error of rows left out is {:.1f} % {} and "
      "{:.1f} % {}; measure more rows, or {}",
      words.opening, rows, what, words.claim, 100 * std::expm1(with), words.with,
      100 * std::expm1(without), words.without, words.advice);
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

std::map<std::string, CalibrationEvidence> WeighLeftOutRows(const LeftOutRows& rows,
                                                            const ErrorsOfOthers& errors) {
  const std::vector<int> parts = LeaveOutParts(rows.keys);
  std::vector<double> with(parts.size(), std::numeric_limits<double>::quiet_NaN());
  for (int part = 0; part < kMostParts; ++part) {
    std::vector<size_t> kept, left_out;
    for (size_t i = 0; i < parts.size(); ++i) (parts[i] == part ? left_out : kept).push_back(i);
    if (left_out.empty()) continue;
    const std::vector<double> of_part = errors(kept, left_out);
    for (size_t i = 0; i < left_out.size(); ++i) with[left_out[i]] = of_part[i];
  }
  struct Pair {
    std::vector<double> without, with;
  };
  std::map<std::string, Pair> by_label;
  for (size_t i = 0; i < with.size(); ++i) {
    if (std::isnan(with[i]) || std::isnan(rows.without[i])) continue;
    Pair& pair = by_label[rows.labels[i]];
    pair.without.push_back(rows.without[i]);
    pair.with.push_back(with[i]);
  }
  std::map<std::string, CalibrationEvidence> evidence;
  for (const auto& [label, pair] : by_label) {
    evidence[label] = WeighCalibration(pair.without, pair.with);
  }
  return evidence;
}

}  // namespace stagecraft
