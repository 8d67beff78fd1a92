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

// Sigmas of the logarithm of a site's rows, and of a factor common to all of them: if it alone
// moves, and if constants move, too.
constexpr double kRowSigma = 0.06;
constexpr double kOffsetSigma = 0.1;
constexpr double kOffsetSigmaBesides = 0.01;
constexpr double kMeasuredReach = 0.5;
constexpr double kShare = 0.5;
// A few samples say less than a table of them: the spread stays near that of an unknown GPU type.
constexpr double kNearness = 0.5;
constexpr double kNoteworthy = 0.005;

// The result of the fit for a GPU type if a given share of the correction is kept.
struct Candidate {
  KnownGpu gpu;
  double error = 0;  // mean of |log(predicted / measured)|
};

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
    }
    for (size_t i = 0; i < prior.constants.size(); ++i) {
      if (family.constants()[i].calibration > 0) moving_.push_back(i);
    }
    offset_sigma_ = (moving_.empty() ? kOffsetSigma : kOffsetSigmaBesides) * reach_;
  }

  Candidate With(double share) const {
    const std::vector<double> corrections = Corrections(share);
    const auto residuals = [&](std::span<const double> sigmas) {
      std::vector<double> found = Errors(sigmas, corrections);
      for (double& residual : found) residual /= kRowSigma;
      return found;
    };
    const std::vector<double> start(moving_.size() + 1, 0);
    const std::vector<double> sigmas =
        FitRobustly(residuals, start, {.sigmas = std::vector<double>(start.size(), 1)});
    Candidate candidate;
    candidate.gpu = {.device = device_,
                     .constants = ConstantsAt(sigmas),
                     .share = share,
                     .offset = OffsetAt(sigmas),
                     .nearness = std::min(prior_.nearness, kNearness)};
    for (const double error : Errors(sigmas, corrections)) {
      candidate.error += std::abs(error) / static_cast<double>(ops_.size());
    }
    return candidate;
  }

  std::string Changes(const KnownGpu& gpu) const {
    std::string changes = fmt::format("{}: all x {:.3f}", family_.name(), std::exp(gpu.offset));
    for (const size_t i : moving_) {
      const double change = gpu.constants[i] / prior_.constants[i];
      if (std::abs(change - 1) < kNoteworthy) continue;
      changes += fmt::format(", {} x {:.3f}", family_.constants()[i].name, change);
    }
    if (gpu.share != prior_.share) {
      changes += fmt::format(", correction x {:.2f}", gpu.share / prior_.share);
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

  // Returns the logarithms of corrections, which do not change while the constants move.
  std::vector<double> Corrections(double share) const {
    GpuSetting kept = prior_;
    kept.share = share;
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
  const double reach_;  // a factor of how far constants and offset may move
  double offset_sigma_ = 0;
  std::vector<size_t> moving_;  // constants
  std::vector<Op> ops_;
  std::vector<double> measured_;
};

}  // namespace

Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const GpuSetting& prior, std::span<const FitRow> rows) {
  CHECK(!rows.empty());
  const Calibrator calibrator(family, trees, prior, rows);
  const double half = trees.empty() ? 0 : std::min(prior.share, kShare);
  Candidate best = calibrator.With(half);
  if (prior.is_measured && half < prior.share) {
    Candidate whole = calibrator.With(prior.share);
    if (whole.error <= best.error) best = std::move(whole);
  }
  std::string changes = calibrator.Changes(best.gpu);
  return {std::move(best.gpu), std::move(changes)};
}

}  // namespace stagecraft
