// PricedCurve: the times of one collective over one group at every size.
#pragma once

#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/network/time_curve.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

struct NetworkEstimate {
  Estimate estimate;
  CollectiveChoice choice;  // the formula's; its time is the formula's too
};

// What measured curves count at one place.
struct CurveWeights {
  struct Share {
    const TimeCurve* curve;
    double latency, bandwidth;
    bool is_same;  // the very group: by size, not by regime
  };

  // log(measured / formula) there.
  double RatioAt(double size, double regime) const;
  // Sigma of log time.
  double Spread() const;

  std::vector<Share> shares;
  double variance = 1;        // left, in [0, 1]
  bool is_elsewhere = false;  // at none of the sites
};

// Immutable, of about 2 KB; does not refer to the curves it was made of. More bytes
// never take less time, and no time is shorter than the links allow.
class PricedCurve {
 public:
  PricedCurve(const Op& op, const Device& device, const CurveWeights& weights);

  NetworkEstimate At(Bytes bytes) const;

 private:
  double Seconds(double size, const CurveWeights& weights) const;
  double LeastSeconds(Bytes bytes, const CollectiveChoice& choice) const;
  Basis BasisAt(double size) const;

  Op op_;
  Formula formula_;
  double spread_;
  Basis basis_;               // where no size of the group was measured
  bool is_measured_ = false;  // some of its sizes, from the first to the last:
  double first_size_ = 0, last_size_ = 0;
  std::vector<double> log_seconds_;  // by size
};

}  // namespace stagecraft
