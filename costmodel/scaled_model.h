// ScaledModel: another model's estimates were devices or links faster, or slower.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"

namespace stagecraft {

// Over what they are; each > 0.
struct Speeds {
  double compute = 1;  // kernels of devices
  double intra = 1;    // bandwidth of links within a scale-up domain
  double inter = 1;    // and between them

  // An op takes at least this much of its time; in (0, 1].
  double LeastShare() const;
  // And at most this much; at least 1.
  double MostShare() const;
};

// Kernels, and copies to hosts, take their time over Speeds::compute. A collective is what the
// model behind says of its fabric with other bandwidths and the same latencies, but no less than
// LeastShare() of its time and no more than MostShare(): a model's choice of algorithm
// may jump where bandwidths do not. Times round up, so that both hold of every op to the
// nanosecond. What hosts launch stays as it is.
class ScaledModel : public CostModel {
 public:
  // `model` must outlive this one.
  ScaledModel(const CostModel& model, const Speeds& speeds) : model_(model), speeds_(speeds) {}

  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  bool ScalesLinks() const { return speeds_.intra != 1 || speeds_.inter != 1; }
  Op OnScaledLinks(const Op& op) const;

  const CostModel& model_;
  const Speeds speeds_;
};

}  // namespace stagecraft
