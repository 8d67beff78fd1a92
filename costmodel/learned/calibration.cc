#include "costmodel/learned/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/corrected_times.h"
#include "costmodel/learned/robust_fit.h"

namespace stagecraft {
namespace {

// Sigmas of the logarithm of a row: what the model itself cannot say about any op, and, for ops of
// about kShortSeconds or less, what laboratories do differently.
constexpr double kRowSigma = 0.1;
constexpr double kMeasuredRowSigma = 0.05;  // of a GPU type that was measured before
constexpr double kShortSigma = 0.06;
constexpr double kShortSeconds = 10e-6;
// Rows that are further off than this many sigmas count less.
constexpr double kOutlier = 2;
// Sigmas of a factor common to all rows: if it alone moves, and if constants move, too.
constexpr double kOffsetSigma = 0.1;
constexpr double kOffsetSigmaBesides = 0.03;
// How far constants may move if the GPU type was measured before.
constexpr double kMeasuredReach = 1.0 / 3;
// From this many rows on, what is left of them is smoothed over sizes.
constexpr size_t kRowsToSmooth = 50;
// This many rows make a GPU type half as certain as a table of samples does.
constexpr double kRowsOfHalf = 50;
constexpr double kNoteworthy = 0.005;

class Calibrator {
 public:
  Calibrator(const KernelFamily& family, const BoostedTrees& trees, const GpuSetting& prior,
             std::span<const FitRow> rows)
      : family_(family),
        trees_(trees),
        device_(*rows[0].device),
        prior_(prior),
        reach_(prior.is_measured ? kMeasuredReach : 1) {
    for (const FitRow& row : rows) {
      ops_.push_back(*row.op);
      measured_.push_back(row.log_seconds);
      spreads_.push_back(row.spread);
    }
    for (size_t i = 0; i < prior.constants.size(); ++i) {
      if (family.constants()[i].calibration > 0) moving_.push_back(i);
    }
    offset_sigma_ = moving_.empty() ? kOffsetSigma : kOffsetSigmaBesides;
    row_sigma_ = prior.is_measured ? kMeasuredRowSigma : kRowSigma;
  }

  KnownGpu Run() const {
    const std::vector<double> corrections = Corrections();
    const auto residuals = [&](std::span<const double> sigmas) {
      std::vector<double> found = Errors(sigmas, corrections);
      for (size_t i = 0; i < found.size(); ++i) found[i] /= SigmaOf(i);
      return found;
    };
    const std::vector<double> start(moving_.size() + 1, 0);
    const std::vector<double> sigmas =
        FitRobustly(residuals, start, {.sigmas = std::vector<double>(start.size(), 1)});
    const auto rows = static_cast<double>(ops_.size());
    return {.device = device_,
            .constants = ConstantsAt(sigmas),
            .share = prior_.share,
            .offset = OffsetAt(sigmas),
            .nearness = std::max(prior_.nearness, rows / (rows + kRowsOfHalf)),
            .residual = Smoothed(Errors(sigmas, corrections))};
  }

  std::string Changes(const KnownGpu& gpu) const {
    std::string changes = fmt::format("{}: all x {:.3f}", family_.name(), std::exp(gpu.offset));
    for (const size_t i : moving_) {
      const double change = gpu.constants[i] / prior_.constants[i];
      if (std::abs(change - 1) < kNoteworthy) continue;
      changes += fmt::format(", {} x {:.3f}", family_.constants()[i].name, change);
    }
    return changes;
  }

 private:
  // Returns the constants for the variables of the fit, which are the number of its sigmas by which
  // each moving constant moves and, last, the offset.
  std::vector<double> ConstantsAt(std::span<const double> sigmas) const {
    std::vector<double> constants = prior_.constants;
    for (size_t i = 0; i < moving_.size(); ++i) {
      const double sigma = family_.constants()[moving_[i]].calibration * reach_;
      constants[moving_[i]] *= std::exp(sigma * sigmas[i]);
    }
    return constants;
  }
  double OffsetAt(std::span<const double> sigmas) const {
    return prior_.offset + offset_sigma_ * sigmas.back();
  }

  double SigmaOf(size_t row) const {
    const double sigma = row_sigma_ + kShortSigma / (1 + std::exp(measured_[row]) / kShortSeconds);
    return std::hypot(sigma, spreads_[row]);
  }

  SmoothResidual Smoothed(std::vector<double> errors) const {
    if (errors.size() < kRowsToSmooth) return {};
    std::vector<double> sigmas;
    for (size_t i = 0; i < errors.size(); ++i) {
      const double sigma = SigmaOf(i);
      sigmas.push_back(sigma * std::max(1.0, std::abs(errors[i]) / (kOutlier * sigma)));
      errors[i] = -errors[i];
    }
    return SmoothResidual::Fit(ops_, errors, sigmas);
  }

  // Returns the logarithms of corrections, which do not change while the constants move.
  std::vector<double> Corrections() const {
    GpuSetting kept = prior_;
    kept.residual = {};
    const CorrectedTimes times(family_, trees_, device_, device_, kept);
    const DescribedOps described = times.Describe(ops_);
    std::vector<double> corrections = times.Unguarded(ops_, described);
    for (size_t i = 0; i < ops_.size(); ++i) corrections[i] -= described.log_seconds[i];
    return corrections;
  }

  // Returns log(predicted / measured) of each row.
  std::vector<double> Errors(std::span<const double> sigmas,
                             std::span<const double> corrections) const {
    const std::vector<double> constants = ConstantsAt(sigmas);
    std::vector<double> errors;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const double structured = std::log(family_.Describe(ops_[i], device_, constants, {}));
      errors.push_back(structured + corrections[i] + OffsetAt(sigmas) - measured_[i]);
    }
    return errors;
  }

  const KernelFamily& family_;
  const BoostedTrees& trees_;
  const Device& device_;
  const GpuSetting& prior_;
  const double reach_;  // a factor of how far constants may move
  double offset_sigma_ = 0, row_sigma_ = 0;
  std::vector<size_t> moving_;  // constants
  std::vector<Op> ops_;
  std::vector<double> measured_, spreads_;
};

}  // namespace

Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const GpuSetting& prior, std::span<const FitRow> rows) {
  CHECK(!rows.empty());
  const Calibrator calibrator(family, trees, prior, rows);
  KnownGpu gpu = calibrator.Run();
  std::string changes = calibrator.Changes(gpu);
  return {std::move(gpu), std::move(changes)};
}

}  // namespace stagecraft
