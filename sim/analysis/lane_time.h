// LaneTime: what one compute lane does during a step, by class, and what it waits for.
//
// A lane that runs a pass or an update is busy with it, whatever else its rank does meanwhile:
// computation takes precedence. At every other instant it waits, and the chain of what its next
// task waited for (task_waits.h; after its last task, of what the end of the step waited for) says
// what was running then: a transfer or a copy to the host counts as pipeline, a collective of
// replicas as data, an update as optimizer, a pass of another stage or another replica as bubble. A
// late launch by a host counts as the task that is launched.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/analysis/task_waits.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/repetition.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Exposed time of one rank; the parts add up to the time that was measured.
struct Breakdown {
  Duration compute;
  Duration tensor;    // collectives of tensor parallelism
  Duration pipeline;  // transfers between stages, and copies of activations to and from the host
  Duration data;      // reductions and gathers of replicas, and the gradient norm
  Duration context;
  Duration expert;
  Duration optimizer;
  Duration bubble;  // waiting for passes of other stages or replicas

  Duration Total() const;
  friend bool operator==(const Breakdown&, const Breakdown&) = default;
};

// Returns every part times `share` / `of`; the results add up to exactly that share of the whole.
Breakdown Portion(const Breakdown& breakdown, int64_t share, int64_t of);

// The part of a timeline in which a compute lane is measured.
struct LaneSpan {
  int lane = -1;
  Interval interval;
  TaskId last = -1;  // what the end of the interval waits for, once the lane has ended
};

struct LaneTime {
  Breakdown parts;
  Duration host_wait;  // within all parts: the lane's own device waits for its host to launch
  // Seconds of the lane's own ops: by basis, in total, and weighted by their spread, with that of
  // the framework that launches them (framework_spread.h).
  std::array<double, kBasisCount> by_basis{};
  double busy_seconds = 0;
  double spread_seconds = 0;
};

// Returns when the lane does not run a task, which is what MeasureLane() walks back through.
std::vector<Interval> IdleIntervals(const Schedule& schedule, const Timeline& timeline,
                                    const LaneSpan& span);

// Measures what lies within the span. `waits` must know at least the IdleIntervals() of the lane.
// With `repetition`, the times are those of the longer step.
LaneTime MeasureLane(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                     const TaskWaits& waits, const LaneSpan& span,
                     const Repetition& repetition = {});

}  // namespace stagecraft
