// StepProfile: where the time of a training step goes, seen from its critical rank.
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

// How training steps follow each other. kTogether: all ranks begin the next step when the last rank
// is done. kApart: each rank begins it as soon as it is done itself, and the rank that takes
// longest sets the pace.
enum class StepEnds { kTogether, kApart };

struct StepProfile {
  Breakdown breakdown;        // of the critical rank's compute lane (lane_time.h)
  int32_t critical_rank = 0;  // the one that ends last, or takes longest; among equals the first
  // Share of the time from the first pass to the last in which compute lanes are idle, over all
  // devices.
  double bubble_fraction = 0;
  // Part of the training step in which the critical rank's device waits for its host to launch.
  Duration host_wait;
  // Shares of the critical rank's busy time by Basis; they add up to 1.
  std::array<double, kBasisCount> basis_share{};
  // Sigma of log(step time): the spreads of ops weighted by time, with what the framework adds to
  // them and to the host's launches (framework_spread.h). They are taken as fully correlated, which
  // errs on the wide side.
  double spread = 0;
  friend bool operator==(const StepProfile&, const StepProfile&) = default;
};

// Returns the profile of a training step; with `repetition`, that of the longer step.
StepProfile ProfileStep(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                        StepEnds ends = StepEnds::kTogether, const Repetition& repetition = {});

// Does the same for a part of a timeline: for every rank, what begins and ends within its interval.
// The critical rank is the one that idles for the smallest share of its interval, among equals the
// first; the breakdown is of that interval.
StepProfile ProfileIntervals(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, std::span<const Interval> by_rank);

}  // namespace stagecraft
