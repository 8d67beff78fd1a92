// Breakdown: where the time of a step goes, seen from its critical rank.
#pragma once

#include <array>
#include <span>

#include "costmodel/units.h"
#include "sim/repetition.h"
#include "sim/schedule.h"
#include "sim/sim_executor.h"
#include "sim/timeline.h"

namespace stagecraft {

// Exposed time: while several things go on at once, compute counts. The parts
// add up to the step.
struct Breakdown {
  Duration compute;
  Duration tensor;    // collectives of tensor parallelism
  Duration pipeline;  // waiting for a transfer that is under way, activations' to the host too
  Duration data;      // reductions and gathers of replicas
  Duration context;
  Duration expert;
  Duration optimizer;
  Duration bubble;  // waiting for another stage's compute

  Duration Total() const;
  friend bool operator==(const Breakdown&, const Breakdown&) = default;
};

// `share` / `of` of every part; they still add up to that much of the whole.
Breakdown Portion(const Breakdown& breakdown, int64_t share, int64_t of);

// How steps follow each other. kTogether: all ranks begin the next one when the last is
// done. kApart: each as soon as it is done itself; the one that takes longest paces all.
enum class StepEnds { kTogether, kApart };

struct StepProfile {
  Breakdown breakdown;
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

struct Interval {
  Duration begin, end;

  Duration length() const { return end - begin; }
};

// The same of a part of a timeline: of every rank what begins and ends within its
// interval. The critical rank idles the smallest share of its own, of equals the first;
// the breakdown is of its interval.
StepProfile ProfileIntervals(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, std::span<const Interval> by_rank);

}  // namespace stagecraft
