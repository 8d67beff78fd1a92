#include "costmodel/network/priced_curve.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace stagecraft {
namespace {

// Weights go from latency to bandwidth between regime 0 and this one.
constexpr double kLastRegime = 11;

// Spreads of the logarithm of a time: of repeated runs, of groups that have something in common, of
// sites, and of the formula for groups unlike all measured ones. Where latency counts, software and
// hosts differ; where bandwidth counts, they hardly do. From the residuals of the splits
// (docs/cost-model.md).
struct Spreads {
  double latency, bandwidth;
  double At(double toward) const { return (1 - toward) * latency + toward * bandwidth; }
};
constexpr double kSpreadOfRuns = 0.06;
constexpr Spreads kSpreadOfGroups = {0.6, 0.12};
constexpr Spreads kSpreadOfSites = {0.45, 0.07};
constexpr Spreads kSpreadOfFormula = {0.8, 0.4};
// Over a network of a kind that nobody measured, the 80 % interval is at least a factor of 1.5 each
// way.
const double kSpreadOfUnknownNetwork = std::log(1.5) / kSigmas80;
// If no more than this part of the variance is left, a curve says more than the formula.
constexpr double kLearnedVariance = 0.5;

// The sizes at which times are computed, as log2 of bytes: a quarter of an octave apart.
constexpr double kFirstSize = 4;
constexpr double kLastSize = 44;
constexpr double kSizesPerOctave = 4;

// Returns the values nearest to the given ones, by least squares, that never fall (pool adjacent
// violators): measured times that fall are noise around times that do not.
std::vector<double> Ascending(const std::vector<double>& values) {
  struct Pool {
    double sum;
    size_t count;
    double Mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].Mean() > pools.back().Mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::vector<double> ascending;
  for (const Pool& pool : pools) ascending.insert(ascending.end(), pool.count, pool.Mean());
  return ascending;
}

double TowardBandwidth(double regime) { return std::clamp(regime / kLastRegime, 0.0, 1.0); }

}  // namespace

double CurveWeights::RatioAt(double size, double regime) const {
  return WeighedCurves(*this).RatioAt(size, regime);
}

WeighedCurves::WeighedCurves(const CurveWeights& weights) : weights_(weights) {
  for (const CurveWeights::Share& share : weights.shares) ends_.emplace_back(*share.curve);
}

double WeighedCurves::RatioAt(double size, double regime) const {
  const double toward = TowardBandwidth(regime);
  const double formula = std::exp2(regime);
  double ratio = weights_.residual == nullptr ? 0 : weights_.residual->AtSize(size);
  for (size_t i = 0; i < ends_.size(); ++i) {
    const CurveWeights::Share& share = weights_.shares[i];
    ratio += share.WeightAt(toward) * (share.is_same && size <= share.curve->knots.back().size
                                           ? share.curve->RatioAtSize(size)
                                           : ends_[i].RatioAt(regime, formula));
  }
  return ratio;
}

double CurveWeights::RatioAtRegime(double regime) const {
  const double toward = TowardBandwidth(regime);
  double ratio = residual == nullptr ? 0 : residual->AtRegime(regime);
  for (const Share& share : shares) {
    ratio += share.WeightAt(toward) * share.curve->RatioAtRegime(regime);
  }
  return ratio;
}

double CurveWeights::SpreadAt(double toward) const {
  if (shares.empty() && residual == nullptr) return kSpreadOfFormula.At(toward);
  const double sites = is_elsewhere ? kSpreadOfSites.At(toward) : 0;
  const double groups = std::sqrt(variance) * kSpreadOfGroups.At(toward);
  const double known = std::hypot(kSpreadOfRuns, sites, groups);
  return is_network_known ? known : std::max(known, kSpreadOfUnknownNetwork);
}

PricedCurve::PricedCurve(const Op& op, const Device& device, const CurveWeights& weights)
    : op_(op),
      formula_(op, device, std::nullopt),
      latency_spread_(weights.SpreadAt(0)),
      bandwidth_spread_(weights.SpreadAt(1)),
      basis_(weights.variance >= kLearnedVariance || !weights.is_network_known
                 ? Basis::kExtrapolated
             : weights.is_calibrated ? Basis::kCalibrated
                                     : Basis::kLearned) {
  if (weights.shares.empty() && weights.residual == nullptr) basis_ = Basis::kAnalytical;
  if (weights.residual != nullptr) {
    is_measured_ = true;
    first_size_ = weights.residual->curve.knots.front().size;
    last_size_ = weights.residual->curve.knots.back().size;
  }
  const WeighedCurves curves(weights);
  for (double size = kFirstSize; size <= kLastSize; size += 1 / kSizesPerOctave) {
    log_seconds_.push_back(std::log(Seconds(size, curves)));
  }
  log_seconds_ = Ascending(log_seconds_);
}

NetworkEstimate PricedCurve::At(Bytes bytes) const {
  const double size = std::log2(std::max(1.0, static_cast<double>(bytes.count())));
  const double last = static_cast<double>(log_seconds_.size() - 1);
  const double at = std::clamp((size - kFirstSize) * kSizesPerOctave, 0.0, last);
  const auto below = static_cast<size_t>(std::min(at, last - 1));
  const double part = at - static_cast<double>(below);
  double seconds = std::exp((1 - part) * log_seconds_[below] + part * log_seconds_[below + 1]);
  NetworkEstimate result;
  result.choice = formula_.ChoiceAt(bytes);
  const double regime = formula_.RegimeAt(formula_.SecondsOf(result.choice));
  if (size > kLastSize) seconds *= std::exp2(size - kLastSize);
  seconds = std::max(seconds, LeastSeconds(bytes, result.choice));
  result.estimate = {.time = Duration::Seconds(seconds),
                     .basis = BasisAt(size),
                     .spread = SpreadAt(size, regime),
                     .method = result.choice.method};
  return result;
}

Basis PricedCurve::BasisAt(double size) const {
  if (!is_measured_) return basis_;
  const bool is_inside = first_size_ <= size && size <= last_size_;
  return is_inside ? Basis::kInterpolated : Basis::kExtrapolated;
}

// The further from the sizes that were measured, the more the group is like one of another site.
double PricedCurve::SpreadAt(double size, double regime) const {
  constexpr double kDoublings = 2;
  const double toward = TowardBandwidth(regime);
  const double spread = (1 - toward) * latency_spread_ + toward * bandwidth_spread_;
  if (!is_measured_) return spread;
  const double beyond = std::max({0.0, first_size_ - size, size - last_size_});
  return std::hypot(spread, kSpreadOfSites.At(toward) * (1 - std::exp(-beyond / kDoublings)));
}

double PricedCurve::LeastSeconds(Bytes bytes, const CollectiveChoice& choice) const {
  Op op = op_;
  op.bytes = bytes;
  // Rounded up, because times are whole nanoseconds.
  return (BusiestLinkTime(op, choice.method.algorithm) + 1_ns).seconds();
}

double PricedCurve::Seconds(double size, const WeighedCurves& curves) const {
  const Bytes bytes(std::llround(std::exp2(size)));
  const CollectiveChoice choice = formula_.ChoiceAt(bytes);
  const double expected = formula_.SecondsOf(choice);
  const double seconds = expected * std::exp(curves.RatioAt(size, formula_.RegimeAt(expected)));
  return std::max(seconds, LeastSeconds(bytes, choice));
}

}  // namespace stagecraft
