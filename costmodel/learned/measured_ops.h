// MeasuredOps: ops that were measured by themselves take what they took.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/learned/measured_times.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Another model prices all other ops, and what hosts launch. Immutable.
class MeasuredOps : public CostModel {
 public:
  // A sample is of the device of its `gpu`, by its id; of several of one op the mean counts.
  // Throws InputError, `place` first, for samples that time whole calls of a framework.
  MeasuredOps(std::unique_ptr<CostModel> rest, std::span<const Sample> samples,
              const std::string& place);

  // Basis::kMeasured for ops that equal a sample's. At a training clock below the boost clock, at
  // which samples are taken, they slow down as the other model says.
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  std::unique_ptr<CostModel> rest_;
  MeasuredTimes times_;
};

}  // namespace stagecraft
