// StepProfile: where the time of a step goes, seen from its critical rank.
#pragma once

#include <array>
#include <span>

#include "costmodel/units.h"
#include "sim/analysis/lane_time.h"
#include "sim/analysis/task_waits.h"
#include "sim/engine/repetition.h"
#include "sim/engine/sim_executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// How steps follow each other. kTogether: all ranks begin the next one when the last is
// done. kApart: each as soon as it is done itself; the one that takes longest paces all.
enum class StepEnds { kTogether, kApart };

struct StepProfile {
  Breakdown breakdown;        // of the critical rank's compute lane (lane_time.h)
  int32_t critical_rank = 0;  // ends last, or takes longest; of equals the first
  // Idle share of all compute lanes, from the first pass to the last.
  double bubble_fraction = 0;
  // In so much of it the critical rank's device waits for its host to launch.
  Duration host_wait;
  // Share of the critical rank's busy time by Basis; adds up to 1.
  std::array<double, kBasisCount> basis_share{};
  // Sigma of log(step time): op spreads weighted by time, taken as fully
  // correlated, which errs on the wide side.
  double spread = 0;
  friend bool operator==(const StepProfile&, const StepProfile&) = default;
};

// With `repetition` that of the longer step.
StepProfile ProfileStep(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                        StepEnds ends = StepEnds::kTogether, const Repetition& repetition = {});

// The same of a part of a timeline: of every rank what begins and ends within its
// interval. The critical rank idles the smallest share of its own, of equals the first;
// the breakdown is of its interval.
StepProfile ProfileIntervals(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, std::span<const Interval> by_rank);

}  // namespace stagecraft
