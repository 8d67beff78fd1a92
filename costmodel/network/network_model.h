// NetworkModel: times of collectives, fitted to measured ones.
//
//   log time = log formula(op, links; algorithm, protocol) + sum of w x ratio(regime)
//
// The formula is NCCL's own model and chooses algorithm, protocol and channels as
// NCCL does. Ratios are those of the measured curves, weighed by how alike groups
// are (Kriging: w = K^-1 k of the correlations, one set for latency and one for
// bandwidth, blended by the regime). So a measured group is interpolated over
// size, an unmeasured one of a measured site takes the site's efficiencies and
// latencies, and other fabrics those of the measured fabrics most like them.
//
// More bytes never take less time, and no time is shorter than the algorithm's
// bytes take on the busiest link at its nominal bandwidth.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/network/network_sample.h"
#include "costmodel/network/priced_curve.h"
#include "costmodel/network/time_curve.h"

namespace stagecraft {

class NetworkModelProto;

// Immutable; all but Fit may be called from any thread. What it has priced is kept,
// 2 KB for each kind of collective and fabric, at most kMostPriced of them, and shared
// with its copies. What comes after these is priced anew each time.
class NetworkModel {
 public:
  // GPUs must be in the catalogue. No samples: the formula alone. Fit() and With()
  // throw InputError for what a file could not hold: kMostCurves, kMostLogRatio.
  static NetworkModel Fit(std::span<const NetworkSample> samples, std::span<const int> train);
  static NetworkModel Fit(std::span<const NetworkSample> samples);

  // Ops that are collectives, on no measured site, or on home(): the one way in which
  // simulations are priced and evaluations judge.
  std::vector<NetworkEstimate> Predict(std::span<const Op> ops, const Device& device) const;

  // The site whose curves count first for ops; empty: none.
  const std::string& home() const { return home_; }
  NetworkModel WithHome(const std::string& site) const;
  // With the curves of these samples too; those of the same features are replaced.
  NetworkModel With(std::span<const NetworkSample> samples) const;

  // This model without the curves of these sites. It has no home site if that was one of them.
  NetworkModel Without(std::span<const std::string> sites) const;

  size_t curves() const { return curves_.size(); }
  // Whether some of them were measured there.
  bool HasSite(const std::string& site) const;

  // 32 MB. A cluster has some tens of kinds of groups, a search of plans hundreds.
  static constexpr size_t kMostPriced = 16384;
  size_t priced() const;  // that are kept

  // Throws InputError, `name` first.
  static NetworkModel FromProto(const NetworkModelProto& proto, const std::string& name);
  NetworkModelProto ToProto() const;
  static NetworkModel Read(const std::string& path);
  // Whether the file is one, whole or damaged: by its first bytes or its keys.
  static bool IsModelFile(const std::string& path);
  // In the binary, read at the first call.
  static const NetworkModel& Shipped();

 private:
  class Prices;
  struct Factors;

  explicit NetworkModel(std::vector<TimeCurve> curves, const std::string& home = {});

  void TakeHome(const std::string& site);
  CurveWeights WeighAt(const CurveFeatures& target) const;
  CurveWeights WeighAnywhere(const CurveFeatures& target) const;

  std::vector<TimeCurve> curves_;
  std::string home_;
  Timing timing_ = Timing::kCollective;     // of home's curves
  std::shared_ptr<const Factors> factors_;  // of the correlations among the curves
  std::shared_ptr<Prices> prices_;
};

}  // namespace stagecraft
