// PricedCurve: the times of one collective over one group at every size.
#pragma once

#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/network/formula.h"
#include "costmodel/network/time_curve.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

struct NetworkEstimate {
  Estimate estimate;
  CollectiveChoice choice;  // the formula's; its time is the formula's too
};

// How much each measured curve counts for one group.
struct CurveWeights {
  struct Share {
    const TimeCurve* curve;
    double latency, bandwidth;
    bool is_same;  // the very same group: compared by size where it was measured, not by regime

    // `toward` is 0 where latency counts alone, and 1 where bandwidth does.
    double WeightAt(double toward) const { return (1 - toward) * latency + toward * bandwidth; }
  };

  // Returns log(measured / formula) at a size and regime.
  double RatioAt(double size, double regime) const;
  // The same if only the regime is known.
  double RatioAtRegime(double regime) const;
  // Returns the sigma of the logarithm of a time; `toward` as above.
  double SpreadAt(double toward) const;

  std::vector<Share> shares;
  // What the group's own measurements at the home site have beyond the shares; null: none.
  const ResidualCurve* residual = nullptr;
  double variance = 1;         // the part that the curves leave unexplained, in [0, 1]
  bool is_elsewhere = false;   // at none of the measured sites
  bool is_calibrated = false;  // the home site's measurements moved what others say
  // Whether the kind of the network between the nodes is stated and was measured anywhere.
  bool is_network_known = true;
};

// WeighedCurves: what CurveWeights::RatioAt() says, for many sizes.
class WeighedCurves {
 public:
  // The weights must outlive it.
  explicit WeighedCurves(const CurveWeights& weights);
  double RatioAt(double size, double regime) const;

 private:
  const CurveWeights& weights_;
  std::vector<TimeCurveEnd> ends_;  // by share
};

// Immutable, about 2 KB; does not refer to the curves that it was made from. More bytes never take
// less time, and no time is shorter than the links allow.
class PricedCurve {
 public:
  PricedCurve(const Op& op, const Device& device, const CurveWeights& weights);

  NetworkEstimate At(Bytes bytes) const;

 private:
  double Seconds(double size, const WeighedCurves& curves) const;
  double LeastSeconds(Bytes bytes, const CollectiveChoice& choice) const;
  Basis BasisAt(double size) const;
  double SpreadAt(double size, double regime) const;

  Op op_;
  Formula formula_;
  double latency_spread_, bandwidth_spread_;
  Basis basis_;               // of sizes at which the group was not measured
  bool is_measured_ = false;  // at some of the group's sizes, from first_size_ to last_size_
  double first_size_ = 0, last_size_ = 0;
  std::vector<double> log_seconds_;  // by size
};

}  // namespace stagecraft
