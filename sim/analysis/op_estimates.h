// OpKindTime: what the ops of one kind take on a rank in a step, and what this prediction rests on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/engine/bound_costs.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

struct OpKindTime {
  OpKind kind = OpKind::kNone;
  int64_t ops = 0;
  Duration time;  // ops that run side by side count only for what is exposed
  // Shares of the time by Basis; they add up to 1.
  std::array<double, kBasisCount> basis{};
  double spread = 0;  // mean sigma of log(time), weighted by time; without the framework's
};

// Returns the kinds that take any time on the rank, those that take longest first. Times are those
// of the cost model: launches of the host and what runs beside on other lanes add nothing.
std::vector<OpKindTime> TimesByOpKind(const Schedule& schedule, const BoundCosts& costs,
                                      int32_t rank);

}  // namespace stagecraft
