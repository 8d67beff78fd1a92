#include "costmodel/network/network_model.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

// Of a curve's ratios about what is smooth over groups, in units of their variance.
constexpr double kNoise = 0.04;
// Regimes over which weights go from latency to bandwidth.
constexpr double kLastRegime = 11;
constexpr double kLeastWeight = 1e-4;
// An op is priced as on the few measured sites most like its fabric.
constexpr size_t kMostSites = 3;
constexpr double kLeastShare = 0.05;

// Spread of log time: of repeated runs, of what groups have in common, of sites,
// and of the formula where nothing like it was measured. From the residuals of
// the splits (README.md).
constexpr double kSpreadOfRuns = 0.06;
constexpr double kSpreadOfGroups = 0.5;
constexpr double kSpreadOfSites = 0.2;
constexpr double kSpreadOfFormula = 0.6;
// Left of the variance, where a curve still says more than a formula would.
constexpr double kLearnedVariance = 0.5;

// Sizes at which times are computed: a quarter of an octave apart.
constexpr double kFirstSize = 4;
constexpr double kLastSize = 44;
constexpr double kSizesPerOctave = 4;

constexpr std::array kRegimes = {Regime::kLatency, Regime::kBandwidth};

}  // namespace

struct NetworkModel::Factors {
  std::array<Eigen::LDLT<Eigen::MatrixXd>, kRegimes.size()> of;
};

// What each curve counts at one place.
class NetworkModel::Weights {
 public:
  struct Share {
    const TimeCurve* curve;
    double latency, bandwidth;
    bool is_same;  // the very group: by size, not by regime
  };

  double RatioAt(double size, double regime) const {
    const double toward = std::clamp(regime / kLastRegime, 0.0, 1.0);
    double ratio = 0;
    for (const Share& share : shares) {
      const double weight = (1 - toward) * share.latency + toward * share.bandwidth;
      ratio += weight * (share.is_same ? share.curve->RatioAtSize(size)
                                       : share.curve->RatioAtRegime(regime));
    }
    return ratio;
  }

  Basis BasisAt(double size) const {
    if (shares.empty()) return Basis::kAnalytical;
    if (is_elsewhere) return variance < kLearnedVariance ? Basis::kLearned : Basis::kExtrapolated;
    for (const Share& share : shares) {
      if (!share.is_same) continue;
      const auto& knots = share.curve->knots;
      const bool inside = knots.front().size <= size && size <= knots.back().size;
      return inside ? Basis::kInterpolated : Basis::kExtrapolated;
    }
    return variance < kLearnedVariance ? Basis::kLearned : Basis::kExtrapolated;
  }

  double Spread() const {
    if (shares.empty()) return kSpreadOfFormula;
    const double elsewhere = is_elsewhere ? kSpreadOfSites * kSpreadOfSites : 0;
    return std::sqrt(kSpreadOfRuns * kSpreadOfRuns + elsewhere +
                     kSpreadOfGroups * kSpreadOfGroups * variance);
  }

  std::vector<Share> shares;
  double variance = 1;        // left, in [0, 1]
  bool is_elsewhere = false;  // at none of the sites
};

namespace {

// The nearest values, by squares, that never fall (pool adjacent violators): where
// measured times fall, they are noise about something that does not.
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

// Times of one op over sizes, ascending, and bounded by its links.
template <typename Weights>
class PricedCurve {
 public:
  PricedCurve(const Op& op, const Device& device, std::optional<Algorithm> forced, bool is_bounded,
              Weights weights)
      : op_(op),
        formula_(op, device, forced),
        is_bounded_(is_bounded),
        weights_(std::move(weights)) {
    for (double size = kFirstSize; size <= kLastSize; size += 1 / kSizesPerOctave) {
      log_seconds_.push_back(std::log(Seconds(size)));
    }
    log_seconds_ = Ascending(log_seconds_);
  }

  NetworkEstimate At(Bytes bytes) const {
    const double size = std::log2(std::max(1.0, static_cast<double>(bytes.count())));
    const double last = static_cast<double>(log_seconds_.size() - 1);
    const double at = std::clamp((size - kFirstSize) * kSizesPerOctave, 0.0, last);
    const auto below = static_cast<size_t>(std::min(at, last - 1));
    const double part = at - static_cast<double>(below);
    double seconds = std::exp((1 - part) * log_seconds_[below] + part * log_seconds_[below + 1]);
    NetworkEstimate result;
    result.choice = formula_.ChoiceAt(bytes);
    if (size > kLastSize) seconds *= std::exp2(size - kLastSize);
    if (is_bounded_) seconds = std::max(seconds, LeastSeconds(bytes, result.choice));
    result.estimate = {.time = Duration::Seconds(seconds),
                       .basis = weights_.BasisAt(size),
                       .spread = weights_.Spread(),
                       .method = result.choice.method};
    return result;
  }

 private:
  double LeastSeconds(Bytes bytes, const CollectiveChoice& choice) const {
    Op op = op_;
    op.bytes = bytes;
    // Rounded up: times are whole nanoseconds.
    return (BusiestLinkTime(op, choice.method.algorithm) + 1_ns).seconds();
  }

  double Seconds(double size) const {
    const Bytes bytes(std::llround(std::exp2(size)));
    const CollectiveChoice choice = formula_.ChoiceAt(bytes);
    const double expected = formula_.SecondsOf(choice);
    const double seconds = expected * std::exp(weights_.RatioAt(size, formula_.RegimeAt(expected)));
    return is_bounded_ ? std::max(seconds, LeastSeconds(bytes, choice)) : seconds;
  }

  Op op_;
  Formula formula_;
  bool is_bounded_;
  Weights weights_;
  std::vector<double> log_seconds_;  // by size
};

Eigen::MatrixXd CorrelationsAmong(const std::vector<TimeCurve>& curves, Regime regime) {
  const auto n = static_cast<Eigen::Index>(curves.size());
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      matrix(i, j) = Correlation(curves[i].features, curves[j].features, regime);
      matrix(j, i) = matrix(i, j);
    }
    matrix(i, i) += kNoise;
  }
  return matrix;
}

void CheckCount(const std::vector<TimeCurve>& curves) {
  if (curves.size() <= kMostCurves) return;
  throw InputError(fmt::format("curves: got {} collectives, groups and sites, want at most {}",
                               curves.size(), kMostCurves));
}

// A rank alone: nothing to do.
NetworkEstimate Nothing() { return {}; }

}  // namespace

NetworkModel::NetworkModel(std::vector<TimeCurve> curves, std::string home)
    : curves_(std::move(curves)), home_(std::move(home)) {
  auto factors = std::make_shared<Factors>();
  for (size_t r = 0; r < kRegimes.size() && !curves_.empty(); ++r) {
    factors->of[r].compute(CorrelationsAmong(curves_, kRegimes[r]));
  }
  factors_ = std::move(factors);
}

NetworkModel NetworkModel::Fit(std::span<const NetworkSample> samples, std::span<const int> train) {
  std::vector<TimeCurve> curves = MakeCurves(samples, train);
  CheckCount(curves);
  return NetworkModel(std::move(curves));
}

NetworkModel NetworkModel::Fit(std::span<const NetworkSample> samples) {
  std::vector<int> all(samples.size());
  std::iota(all.begin(), all.end(), 0);
  return Fit(samples, all);
}

NetworkModel NetworkModel::With(std::span<const NetworkSample> samples) const {
  std::map<CurveFeatures, TimeCurve> curves;
  for (const TimeCurve& curve : curves_) curves[curve.features] = curve;
  std::vector<int> all(samples.size());
  std::iota(all.begin(), all.end(), 0);
  for (TimeCurve& curve : MakeCurves(samples, all)) curves[curve.features] = std::move(curve);
  std::vector<TimeCurve> list;
  for (auto& [features, curve] : curves) list.push_back(std::move(curve));
  CheckCount(list);
  return NetworkModel(std::move(list), home_);
}

NetworkModel NetworkModel::WithHome(const std::string& site) const {
  NetworkModel model = *this;
  model.home_ = site;
  return model;
}

NetworkModel::Weights NetworkModel::WeighAt(const CurveFeatures& target) const {
  Weights weights;
  const auto n = static_cast<Eigen::Index>(curves_.size());
  if (n == 0) return weights;
  for (const TimeCurve& curve : curves_) {
    if (curve.features != target) continue;
    weights.shares.push_back({&curve, 1, 1, /*is_same=*/true});
    weights.variance = 0;
    return weights;
  }
  std::array<Eigen::VectorXd, kRegimes.size()> solved;
  double left = 0;
  for (size_t r = 0; r < kRegimes.size(); ++r) {
    Eigen::VectorXd to_target(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      to_target(i) = Correlation(target, curves_[i].features, kRegimes[r]);
    }
    solved[r] = factors_->of[r].solve(to_target);
    left += (1 - to_target.dot(solved[r])) / kRegimes.size();
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const double latency = solved[0](i);
    const double bandwidth = solved[1](i);
    if (std::abs(latency) + std::abs(bandwidth) < kLeastWeight) continue;
    weights.shares.push_back({&curves_[i], latency, bandwidth, /*is_same=*/false});
  }
  weights.variance = std::clamp(left, 0.0, 1.0);
  return weights;
}

NetworkModel::Weights NetworkModel::WeighAnywhere(const CurveFeatures& target) const {
  std::map<std::string, double> likeness;
  for (const TimeCurve& curve : curves_) {
    double& best = likeness[curve.features.site];
    best = std::max(best, Likeness(target, curve.features));
  }
  std::vector<std::pair<double, std::string>> sites;
  for (const auto& [site, value] : likeness) {
    if (value > 0) sites.emplace_back(-value, site);
  }
  std::sort(sites.begin(), sites.end());
  if (sites.size() > kMostSites) sites.resize(kMostSites);
  double sum = 0;
  for (const auto& [negative, site] : sites) {
    if (negative > kLeastShare * sites[0].first) continue;
    sum -= negative;
  }
  Weights weights;
  if (sum == 0) return weights;
  weights.is_elsewhere = true;
  weights.variance = 0;
  for (const auto& [negative, site] : sites) {
    if (negative > kLeastShare * sites[0].first) continue;
    CurveFeatures there = target;
    there.site = site;
    Weights at_site = WeighAt(there);
    const double share = -negative / sum;
    for (Weights::Share& curve : at_site.shares) {
      weights.shares.push_back(
          {curve.curve, share * curve.latency, share * curve.bandwidth, curve.is_same});
    }
    weights.variance += share * at_site.variance;
  }
  // What no site has in common with it is not known.
  weights.variance = std::max(weights.variance, 1 + sites[0].first);
  return weights;
}

NetworkEstimate NetworkModel::Predict(const NetworkSample& sample) const {
  const int first = 0;
  return Predict(std::span(&sample, 1), std::span(&first, 1))[0];
}

std::vector<NetworkEstimate> NetworkModel::Predict(std::span<const NetworkSample> samples,
                                                   std::span<const int> chosen) const {
  std::map<CurveFeatures, std::optional<PricedCurve<Weights>>> priced;
  std::map<std::string, Device> devices;
  std::vector<NetworkEstimate> estimates;
  estimates.reserve(chosen.size());
  for (const int index : chosen) {
    const NetworkSample& sample = samples[index];
    if (sample.op.fabric.ranks <= 1) {
      estimates.push_back(Nothing());
      continue;
    }
    Device& device = devices[sample.gpu];
    if (device.id.empty()) device = DeviceCatalogue::Embedded().Get(sample.gpu, "gpu").device;
    const CurveFeatures features = FeaturesOf(sample, device.generation);
    auto& curve = priced[features];
    if (!curve) {
      curve.emplace(sample.op, device, sample.forced, sample.is_network_stated, WeighAt(features));
    }
    estimates.push_back(curve->At(sample.op.bytes));
  }
  return estimates;
}

std::vector<NetworkEstimate> NetworkModel::Predict(std::span<const Op> ops,
                                                   const Device& device) const {
  std::vector<std::pair<Op, PricedCurve<Weights>>> priced;  // by op of no bytes
  std::vector<NetworkEstimate> estimates;
  estimates.reserve(ops.size());
  for (const Op& op : ops) {
    CHECK(IsCollective(op.kind));
    if (op.fabric.ranks <= 1) {
      estimates.push_back(Nothing());
      continue;
    }
    const Op group = Op::Collective(op.kind, Bytes(), op.fabric);
    auto found = std::find_if(priced.begin(), priced.end(),
                              [&](const auto& known) { return known.first == group; });
    if (found == priced.end()) {
      CurveFeatures features = FeaturesOf(op, device);
      features.site = home_;
      Weights weights = home_.empty() ? WeighAnywhere(features) : WeighAt(features);
      priced.emplace_back(
          group, PricedCurve<Weights>(op, device, std::nullopt, /*is_bounded=*/true, weights));
      found = priced.end() - 1;
    }
    estimates.push_back(found->second.At(op.bytes));
  }
  return estimates;
}

}  // namespace stagecraft
