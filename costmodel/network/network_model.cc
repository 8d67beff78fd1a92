#include "costmodel/network/network_model.h"

#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/curve_factors.h"

namespace stagecraft {
namespace {

constexpr double kLeastWeight = 1e-4;
// An op at no measured site is priced as on the few measured sites most like its fabric.
constexpr size_t kMostSites = 3;
constexpr double kLeastShare = 0.05;

}  // namespace

// What the home site has beyond the prediction without it.
struct NetworkModel::Home {
  std::shared_ptr<const NetworkModel> others;  // the model without the home site
  std::vector<ResidualCurve> residuals;        // of the home site's curves
  // All curves, in the order of curves_; those of the home site are completed by the prediction
  // beyond the regimes that were measured.
  std::vector<TimeCurve> completed;
};

// The curves that were priced so far. They refer to nothing else, so copies of a model share them.
class NetworkModel::Prices {
 public:
  // What a curve was priced from.
  struct Key {
    CurveFeatures features;
    Fabric fabric;
    bool is_anywhere = false;
  };

  template <typename Make>
  std::shared_ptr<const PricedCurve> FindOrMake(const Key& key, const Make& make) {
    if (auto known = Find(key)) return known;
    auto made = std::make_shared<const PricedCurve>(make());
    const std::lock_guard lock(mutex_);
    if (count_ == kMostPriced) return made;
    ++count_;
    priced_[key.features].emplace_back(key, made);
    return made;
  }

  size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::shared_ptr<const PricedCurve> Find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = priced_.find(key.features);
    if (found == priced_.end()) return nullptr;
    for (const auto& [known, curve] : found->second) {
      if (known.fabric == key.fabric && known.is_anywhere == key.is_anywhere) return curve;
    }
    return nullptr;
  }

  std::mutex mutex_;
  size_t count_ = 0;
  std::map<CurveFeatures, std::vector<std::pair<Key, std::shared_ptr<const PricedCurve>>>> priced_;
};

namespace {

void CheckCount(const std::vector<TimeCurve>& curves) {
  if (curves.size() <= kMostCurves) return;
  throw InputError(fmt::format("curves: got {} collectives, groups and sites, want at most {}",
                               curves.size(), kMostCurves));
}

// Returns a curve of ratios by regime that goes on where it was not measured: by the prediction and
// a residual that fades. Its sizes mean nothing.
TimeCurve Completed(const TimeCurve& curve, const CurveWeights& prior) {
  constexpr double kLastRegime = 40, kStep = 0.5;
  ResidualCurve residual{curve, prior.shares.empty() ? 0.0 : 1.0};
  for (TimeCurve::Knot& knot : residual.curve.knots) knot.ratio -= prior.RatioAtRegime(knot.regime);
  TimeCurve whole{curve.features, {}};
  const auto add = [&](double regime) {
    whole.knots.push_back(
        {regime, regime, prior.RatioAtRegime(regime) + residual.AtRegime(regime)});
  };
  const double first = curve.knots.front().regime, last = curve.knots.back().regime;
  for (double regime = 0; regime < first; regime += kStep) add(regime);
  whole.knots.insert(whole.knots.end(), curve.knots.begin(), curve.knots.end());
  for (double regime = last + kStep; regime <= kLastRegime; regime += kStep) add(regime);
  return whole;
}

// A collective of one rank takes no time.
NetworkEstimate Nothing() { return {}; }

}  // namespace

NetworkModel::NetworkModel(std::vector<TimeCurve> curves, Harnesses harnesses,
                           const std::string& home)
    : NetworkModel(std::move(curves), std::move(harnesses), home, nullptr) {}

NetworkModel::NetworkModel(std::vector<TimeCurve> curves, Harnesses harnesses,
                           const std::string& home, std::shared_ptr<const CurveFactors> factors)
    : curves_(std::move(curves)),
      harnesses_(std::move(harnesses)),
      factors_(std::move(factors)),
      prices_(std::make_shared<Prices>()) {
  if (factors_ == nullptr) factors_ = std::make_shared<const CurveFactors>(curves_);
  TakeHome(home);
}

std::string NetworkModel::FactorBytes() const { return factors_->ToBytes(); }

NetworkModel NetworkModel::Fit(std::span<const NetworkSample> samples, std::span<const int> train) {
  Harnesses harnesses = Harnesses::Estimate(samples, train);
  std::vector<TimeCurve> curves = MakeCurves(samples, train, harnesses);
  CheckCount(curves);
  return NetworkModel(std::move(curves), std::move(harnesses));
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
  for (TimeCurve& curve : MakeCurves(samples, all, harnesses_))
    curves[curve.features] = std::move(curve);
  std::vector<TimeCurve> list;
  for (auto& [features, curve] : curves) list.push_back(std::move(curve));
  CheckCount(list);
  return NetworkModel(std::move(list), harnesses_, home_);
}

NetworkModel NetworkModel::WithHome(const std::string& site) const {
  NetworkModel model = *this;
  model.TakeHome(site);
  model.prices_ = std::make_shared<Prices>();
  return model;
}

NetworkModel NetworkModel::Without(std::span<const std::string> sites) const {
  const auto is_left = [&](const std::string& site) {
    return std::find(sites.begin(), sites.end(), site) == sites.end();
  };
  std::vector<TimeCurve> left;
  for (const TimeCurve& curve : curves_) {
    if (is_left(curve.features.site)) left.push_back(curve);
  }
  return NetworkModel(std::move(left), harnesses_, is_left(home_) ? home_ : "");
}

// Ops are timed like the measurements of the home site, which are all timed alike.
void NetworkModel::TakeHome(const std::string& site) {
  home_ = site;
  const auto at_home = std::find_if(curves_.begin(), curves_.end(), [&](const TimeCurve& curve) {
    return !site.empty() && curve.features.site == site;
  });
  timing_ = at_home == curves_.end() ? Timing::kCollective : at_home->features.timing;
  at_home_ = nullptr;
  if (at_home == curves_.end()) return;
  auto home = std::make_shared<Home>();
  home->others = std::make_shared<const NetworkModel>(Without(std::span(&site, 1)));
  home->completed = curves_;
  for (TimeCurve& curve : home->completed) {
    if (curve.features.site != site) continue;
    const CurveWeights prior = home->others->WeighAnywhere(curve.features);
    ResidualCurve residual{curve, prior.shares.empty() ? 0.0 : 1.0};
    for (TimeCurve::Knot& knot : residual.curve.knots) {
      knot.ratio -= prior.RatioAt(knot.size, knot.regime);
    }
    curve = Completed(curve, prior);
    home->residuals.push_back(std::move(residual));
  }
  at_home_ = std::move(home);
}

CurveWeights NetworkModel::WeighAtHome(const CurveFeatures& target) const {
  for (const ResidualCurve& residual : at_home_->residuals) {
    if (residual.curve.features != target) continue;
    CurveWeights weights = at_home_->others->WeighAnywhere(target);
    weights.is_elsewhere = false;
    weights.residual = &residual;
    weights.variance = 0;
    return weights;
  }
  CurveWeights weights = WeighAt(target);
  for (CurveWeights::Share& share : weights.shares) {
    share.curve = &at_home_->completed[static_cast<size_t>(share.curve - curves_.data())];
  }
  weights.is_calibrated = true;
  return weights;
}

bool NetworkModel::HasSite(const std::string& site) const {
  return std::any_of(curves_.begin(), curves_.end(),
                     [&](const TimeCurve& curve) { return curve.features.site == site; });
}

bool NetworkModel::KnowsNetwork(const Link& network) const {
  const NetworkKind kind = StatedOrLikely(network);
  const bool is_stated = network.network != NetworkKind::kUnstated;
  return std::any_of(curves_.begin(), curves_.end(), [&](const TimeCurve& curve) {
    const bool is_home = !home_.empty() && curve.features.site == home_;
    return curve.features.network == kind && (is_stated || is_home);
  });
}

size_t NetworkModel::priced() const { return prices_->count(); }

CurveWeights NetworkModel::WeighAt(const CurveFeatures& target) const {
  CurveWeights weights;
  const auto n = static_cast<Eigen::Index>(curves_.size());
  if (n == 0) return weights;
  for (const TimeCurve& curve : curves_) {
    if (curve.features != target) continue;
    weights.shares.push_back({&curve, 1, 1, /*is_same=*/true});
    weights.variance = 0;
    return weights;
  }
  CurveFactors::Vectors to_target;
  for (Eigen::VectorXd& correlations : to_target) correlations.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto correlations = Correlations(target, curves_[i].features);
    for (size_t r = 0; r < kRegimes.size(); ++r) to_target[r](i) = correlations[r];
  }
  const CurveFactors::Vectors solved = factors_->Solve(to_target);
  double left = 0;
  for (size_t r = 0; r < kRegimes.size(); ++r) {
    left += (1 - to_target[r].dot(solved[r])) / kRegimes.size();
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

CurveWeights NetworkModel::WeighAnywhere(const CurveFeatures& target) const {
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
  CurveWeights weights;
  if (sum == 0) return weights;
  weights.is_elsewhere = true;
  weights.variance = 0;
  for (const auto& [negative, site] : sites) {
    if (negative > kLeastShare * sites[0].first) continue;
    CurveFeatures there = target;
    there.site = site;
    CurveWeights at_site = WeighAt(there);
    const double share = -negative / sum;
    for (CurveWeights::Share& curve : at_site.shares) {
      weights.shares.push_back(
          {curve.curve, share * curve.latency, share * curve.bandwidth, curve.is_same});
    }
    weights.variance += share * at_site.variance;
  }
  // The part of the op that has nothing in common with any site is not known.
  weights.variance = std::max(weights.variance, 1 + sites[0].first);
  return weights;
}

CurveWeights NetworkModel::Weigh(const Op& op, const CurveFeatures& target) const {
  CurveWeights weights = home_.empty()         ? WeighAnywhere(target)
                         : at_home_ != nullptr ? WeighAtHome(target)
                                               : WeighAt(target);
  const bool is_measured = !target.network || weights.residual != nullptr;
  weights.is_network_known = is_measured || KnowsNetwork(op.fabric.inter);
  return weights;
}

std::vector<NetworkEstimate> NetworkModel::Predict(std::span<const Op> ops,
                                                   const Device& device) const {
  std::vector<NetworkEstimate> estimates;
  estimates.reserve(ops.size());
  for (const Op& op : ops) {
    CHECK(IsCollective(op.kind));
    if (op.fabric.ranks <= 1) {
      estimates.push_back(Nothing());
      continue;
    }
    Prices::Key key = {FeaturesOf(op, device), op.fabric, home_.empty()};
    key.features.site = home_;
    key.features.timing = timing_;
    const auto curve =
        prices_->FindOrMake(key, [&] { return PricedCurve(op, device, Weigh(op, key.features)); });
    estimates.push_back(curve->At(op.bytes));
  }
  return estimates;
}

}  // namespace stagecraft
