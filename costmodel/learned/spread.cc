#include "costmodel/learned/spread.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr double kHeld = 0.8;  // share of rows for which an interval should hold
constexpr double kLeastResidual = 0.005;
constexpr double kWidening = 1.2;  // GPU types differ more than the samples show
constexpr double kMostUnknownFactor = 100;
// Half of an interval where nothing was measured: a factor of 1.65 either way.
constexpr double kNothingMeasured = 0.5;
// The largest half of an interval of a logarithm: a factor of 148 either way says that nothing is
// known.
constexpr double kWidest = 5;

// The residual that a share kHeld of the residuals does not exceed; 0 if there are none.
double HeldQuantile(std::vector<double> residuals) {
  return residuals.empty() ? 0 : LowerQuantile(std::move(residuals), kHeld);
}

}  // namespace

void Spread::LearnKnown(std::span<const float> features, int columns,
                        std::span<const double> residuals) {
  std::vector<float> targets;
  for (const double residual : residuals) {
    targets.push_back(static_cast<float>(std::log(residual + kLeastResidual)));
  }
  // Centred, because otherwise the first trees would only learn the mean.
  double mean = 0;
  for (const float target : targets) mean += target / static_cast<double>(targets.size());
  for (float& target : targets) target -= static_cast<float>(mean);
  trees_ = BoostedTrees::Train(features, columns, targets, {},
                               {.rounds = 40,
                                .max_depth = 5,
                                .learning_rate = 0.15,
                                .min_child_weight = 50,
                                .row_fraction = 0.7,
                                .column_fraction = 0.5});
  std::vector<double> logs(residuals.size(), 0);
  trees_.AddTo(features, logs);
  std::vector<double> ratios;
  for (size_t i = 0; i < residuals.size(); ++i) ratios.push_back(residuals[i] / std::exp(logs[i]));
  known_factor_ = std::min(kWidest, HeldQuantile(ratios));
}

void Spread::LearnUnknown(std::span<const float> features, std::span<const double> residuals) {
  if (residuals.empty() || trees_.empty()) return;
  std::vector<double> logs(residuals.size(), 0);
  trees_.AddTo(features, logs);
  std::vector<double> ratios;
  for (size_t i = 0; i < residuals.size(); ++i) {
    ratios.push_back(residuals[i] / (known_factor_ * std::exp(logs[i])));
  }
  unknown_factor_ =
      std::clamp(kWidening * HeldQuantile(std::move(ratios)), 1.0, kMostUnknownFactor);
}

std::vector<double> Spread::Of(std::span<const float> features, size_t rows,
                               double nearness) const {
  if (trees_.empty()) return std::vector<double>(rows, kNothingMeasured / kSigmas80);
  std::vector<double> sigmas(rows, 0);
  trees_.AddTo(features, sigmas);
  const double widening = nearness + (1 - nearness) * unknown_factor_;
  for (double& sigma : sigmas) {
    sigma = std::min(kWidest, widening * known_factor_ * std::exp(sigma)) / kSigmas80;
  }
  return sigmas;
}

Spread Spread::FromProto(const FamilyModelProto& proto, BoostedTrees trees,
                         const std::string& name) {
  Spread spread;
  spread.trees_ = std::move(trees);
  const auto check = [&](const char* field, double value, double low, double high) {
    if (value >= low && value <= high) return;
    throw InputError(
        fmt::format("{}.{}: got {}, want from {} to {}", name, field, value, low, high));
  };
  check("known_factor", proto.known_factor(), 0, kWidest);
  check("unknown_factor", proto.unknown_factor(), 1, kMostUnknownFactor);
  spread.known_factor_ = proto.known_factor();
  spread.unknown_factor_ = proto.unknown_factor();
  return spread;
}

void Spread::AddTo(FamilyModelProto& proto) const {
  *proto.mutable_spread_trees() = trees_.ToProto();
  proto.set_known_factor(known_factor_);
  proto.set_unknown_factor(unknown_factor_);
}

}  // namespace stagecraft
