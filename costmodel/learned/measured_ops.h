// MeasuredOps: ops that were measured by themselves take the measured time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/learned/measured_times.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Another model prices all other ops, and the time that hosts need for launches. Immutable.
class MeasuredOps : public CostModel {
 public:
  // A sample belongs to the device that its `gpu` names by id; the mean of several samples of one
  // op counts. Throws an InputError that begins with `place` for samples that time whole calls of a
  // framework.
  MeasuredOps(std::unique_ptr<CostModel> rest, std::span<const Sample> samples,
              const std::string& place);

  // The basis is kMeasured for ops that equal the op of a sample. At a training clock below the
  // boost clock, at which samples are taken, they slow down by as much as the other model says.
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override;

 private:
  std::unique_ptr<CostModel> rest_;
  MeasuredTimes times_;
};

}  // namespace stagecraft
