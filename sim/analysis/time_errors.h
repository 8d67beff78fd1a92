// StepTimeErrors: what may make a predicted step time wrong, source by source, and what that means
// for the question which of two plans is faster.
//
// The interval of one step time (StepProfile::spread) takes all errors as fully correlated. Two
// plans for the same network on the same cluster share most of them: kernels that are slower than
// predicted are slower in both. So the ratio of their step times is known better than either:
//  - What a training framework makes of ops of a kind, and of launches, errs the same way in both
//    plans (framework_spread.h), so only the difference of the kind's shares of the step counts.
//  - The predicted time of one op errs by the same factor in both plans if both run this op; the
//    errors of different ops are taken as independent.
//  - Exposed messages between stages, and reductions and gathers of replicas, err by
//    FrameworkSpread() of a collective, each in the same way in both plans.
// That the errors of different kinds add up in full errs on the wide side.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "costmodel/op.h"
#include "sim/analysis/breakdown.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Each number is a sigma of log(step time) that one source causes alone.
struct StepTimeErrors {
  std::vector<std::pair<Op, double>> by_op;    // distinct ops of the critical rank, in any order
  std::array<double, kOpKindCount> by_kind{};  // by OpKind
  double host = 0;
  double pipeline = 0;
  double data = 0;
};

// `profile` is that of ProfileStep() for the same step.
StepTimeErrors FindTimeErrors(const Schedule& schedule, const BoundCosts& costs,
                              const StepProfile& profile);

// Returns sigma of log(time of one step / time of another); 0 for two equal steps.
double RatioSpread(const StepTimeErrors& a, const StepTimeErrors& b);

}  // namespace stagecraft
