// ScaledModel: the estimates of another model as if devices or links were faster, or slower.
#pragma once

#include <span>
#include <vector>

#include "costmodel/cost_model.h"

namespace stagecraft {

// Factors over the present speeds; each > 0.
struct Speeds {
  double compute = 1;  // kernels of devices
  double intra = 1;    // bandwidth of links within a scale-up domain
  double inter = 1;    // bandwidth of links between domains

  // An op takes at least this share of its time; in (0, 1].
  double LeastShare() const;
  // An op takes at most this multiple of its time; at least 1.
  double MostShare() const;
};

// The times of kernels, and of copies to hosts, are divided by Speeds::compute. The time of a
// collective is what the other model predicts for its fabric with the changed bandwidths and the
// same latencies, but no less than LeastShare() of its time and no more than MostShare(), because a
// model's choice of algorithm may jump where bandwidths do not. Times are rounded up, so that both
// bounds hold for every op to the nanosecond. The time that hosts need to launch kernels stays the
// same.
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
