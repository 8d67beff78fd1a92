#include "costmodel/learned/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/learned/corrected_times.h"
#include "costmodel/learned/robust_fit.h"

namespace stagecraft {
namespace {

// Sigma of the logarithm of a site's rows, and of a factor common to all of them:
// alone, and beside constants that move.
constexpr double kRowSigma = 0.06;
constexpr double kOffsetSigma = 0.1;
constexpr double kOffsetSigmaBesides = 0.01;
constexpr double kMeasuredReach = 0.5;
constexpr double kShare = 0.5;
// A few samples tell less than a table of them: the spread stays near that of an
// unknown board.
constexpr double kNearness = 0.5;
constexpr double kNoteworthy = 0.005;

}  // namespace

Calibration Calibrate(const KernelFamily& family, const BoostedTrees& trees,
                      const BoardSetting& prior, std::span<const FitRow> rows) {
  CHECK(!rows.empty());
  const Device& device = *rows[0].device;
  const double reach = prior.is_measured ? kMeasuredReach : 1;
  std::vector<size_t> moving;  // constants
  for (size_t i = 0; i < prior.constants.size(); ++i) {
    if (family.constants()[i].calibration > 0) moving.push_back(i);
  }
  const double offset_sigma = (moving.empty() ? kOffsetSigma : kOffsetSigmaBesides) * reach;
  // What is found: by how many of its sigmas each constant moves, and the offset.
  const auto constants_at = [&](std::span<const double> sigmas) {
    std::vector<double> constants = prior.constants;
    for (size_t i = 0; i < moving.size(); ++i) {
      constants[moving[i]] *=
          std::exp(family.constants()[moving[i]].calibration * reach * sigmas[i]);
    }
    return constants;
  };
  const auto offset_at = [&](std::span<const double> sigmas) {
    return prior.offset + offset_sigma * sigmas.back();
  };

  // The correction stays as it is while the constants move.
  BoardSetting kept = prior;
  kept.share = trees.empty() ? 0 : std::min(prior.share, kShare);
  std::vector<Op> ops;
  for (const FitRow& row : rows) ops.push_back(*row.op);
  const CorrectedTimes times(family, trees, device, kept);
  const DescribedOps described = times.Describe(ops);
  std::vector<double> corrections = times.Unguarded(ops, described);
  for (size_t i = 0; i < rows.size(); ++i) corrections[i] -= described.log_seconds[i];
  const auto residuals = [&](std::span<const double> sigmas) {
    const std::vector<double> constants = constants_at(sigmas);
    std::vector<double> found;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double structured = std::log(family.Describe(ops[i], device, constants, {}));
      found.push_back((structured + corrections[i] + offset_at(sigmas) - rows[i].log_seconds) /
                      kRowSigma);
    }
    return found;
  };
  const std::vector<double> start(moving.size() + 1, 0);
  const std::vector<double> found =
      FitRobustly(residuals, start, {.sigmas = std::vector<double>(start.size(), 1)});

  Calibration calibration{{.device = device,
                           .constants = constants_at(found),
                           .share = kept.share,
                           .offset = offset_at(found),
                           .nearness = std::min(prior.nearness, kNearness)},
                          ""};
  calibration.changes =
      fmt::format("{}: all x {:.3f}", family.name(), std::exp(calibration.board.offset));
  for (const size_t i : moving) {
    const double change = calibration.board.constants[i] / prior.constants[i];
    if (std::abs(change - 1) < kNoteworthy) continue;
    calibration.changes += fmt::format(", {} x {:.3f}", family.constants()[i].name, change);
  }
  return calibration;
}

}  // namespace stagecraft
