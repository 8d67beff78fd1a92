// NetworkModel: predicts the times of collectives, fitted to measured ones.
//
//   log time = log formula(op, links; algorithm, protocol) + sum of w x ratio(regime)
//
// The formula is NCCL's own model, which chooses algorithm, protocol and channels as NCCL does.
// Ratios are those of the measured curves, weighted by how similar groups are (Kriging: w = K^-1 k
// of the correlations, one set for latency and one for bandwidth, blended by the regime). A fabric
// takes the efficiencies and latencies of the measured fabrics most similar to it. At a site with
// measurements of its own that is the prediction which these correct: the residuals of its curves
// are interpolated over size, carried over to similar groups by the same weights, and fade beyond
// the sizes that were measured.
//
// More bytes never take less time, and no time is shorter than the algorithm's bytes take on the
// busiest link at its nominal bandwidth.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/network/harness.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/network/priced_curve.h"
#include "costmodel/network/time_curve.h"

namespace stagecraft {

class CurveFactors;
class NetworkModelProto;

// Immutable; all methods but Fit() may be called from any thread. Priced curves are kept, 2 KB for
// each kind of collective and fabric, at most kMostPriced of them, and shared with copies of the
// model. Further ones are priced anew each time.
class NetworkModel {
 public:
  // Fits a model to the samples. GPU types must be in the catalogue. Without samples the model is
  // the formula alone. Fit() and With() throw InputError for curves that a file could not hold: see
  // kMostCurves and kMostLogRatio.
  static NetworkModel Fit(std::span<const NetworkSample> samples, std::span<const int> train);
  static NetworkModel Fit(std::span<const NetworkSample> samples);

  // Predicts ops, all of which must be collectives, at home() or else at no measured site. Both
  // simulations and evaluations get their times only here.
  std::vector<NetworkEstimate> Predict(std::span<const Op> ops, const Device& device) const;

  // The site whose curves count first for all ops; empty if there is none.
  const std::string& home() const { return home_; }
  NetworkModel WithHome(const std::string& site) const;
  // A copy that has the curves of these samples too; they replace curves of the same features.
  NetworkModel With(std::span<const NetworkSample> samples) const;

  // A copy without the curves of these sites. It has no home site if that was one of them.
  NetworkModel Without(std::span<const std::string> sites) const;

  // What the sources of the samples add to NCCL's times; no prediction has it.
  const Harnesses& harnesses() const { return harnesses_; }

  size_t curves() const { return curves_.size(); }
  // Whether collectives over this network between nodes were measured: over its kind anywhere, if
  // that is stated, or else at the home site.
  bool KnowsNetwork(const Link& network) const;
  // Whether some of the curves were measured at this site.
  bool HasSite(const std::string& site) const;

  // Together they take 32 MB. A cluster has some tens of kinds of groups, a search over plans
  // hundreds.
  static constexpr size_t kMostPriced = 16384;
  size_t priced() const;  // how many are kept

  // Throws an InputError that begins with `name`. `factors` are empty or the FactorBytes() of the
  // same model, which are not copied: see CurveFactors::InPlace().
  static NetworkModel FromProto(const NetworkModelProto& proto, const std::string& name,
                                std::string_view factors = {});
  NetworkModelProto ToProto() const;
  static NetworkModel Read(const std::string& path);
  // Whether the file is such a model, whole or damaged. It is recognised by its first bytes or its
  // keys.
  static bool IsModelFile(const std::string& path);
  // Returns the model in the binary, which is read at the first call. In the target
  // shipped_network_model.
  static const NetworkModel& Shipped();
  // What takes most of the time of making a model: the factors of the correlations among its
  // curves.
  std::string FactorBytes() const;

 private:
  class Prices;
  struct Home;

  NetworkModel(std::vector<TimeCurve> curves, Harnesses harnesses, const std::string& home = {});
  NetworkModel(std::vector<TimeCurve> curves, Harnesses harnesses, const std::string& home,
               std::shared_ptr<const CurveFactors> factors);

  void TakeHome(const std::string& site);
  CurveWeights Weigh(const Op& op, const CurveFeatures& target) const;
  CurveWeights WeighAtHome(const CurveFeatures& target) const;
  CurveWeights WeighAt(const CurveFeatures& target) const;
  CurveWeights WeighAnywhere(const CurveFeatures& target) const;

  std::vector<TimeCurve> curves_;
  Harnesses harnesses_;
  std::string home_;
  Timing timing_ = Timing::kCollective;          // of home's curves
  std::shared_ptr<const CurveFactors> factors_;  // of the correlations among the curves
  std::shared_ptr<const Home> at_home_;          // null if no curve is of the home site
  std::shared_ptr<Prices> prices_;
};

}  // namespace stagecraft
