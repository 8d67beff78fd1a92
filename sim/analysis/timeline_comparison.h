// TimelineComparison: a predicted and a measured timeline of one schedule, and where the prediction
// is wrong. Both are treated alike, whichever was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "sim/analysis/op_class_times.h"
#include "sim/analysis/overlap_slow_down.h"
#include "sim/analysis/time_pair.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// The tasks of one phase. Errors are shares, not percent.
struct PhaseTime {
  Phase phase = Phase::kForward;
  int tasks = 0;
  TimePair time;  // over all devices: a task counts once for each that it runs on
  // Medians over tasks that took any time: of the absolute errors, and of the variation of
  // durations from step to step (sigma over duration), if that was measured.
  std::optional<double> median_absolute_error, median_sigma;
};

// What the critical paths spend on a phase; the times of each path add up to its step.
struct PathTimes {
  std::optional<Phase> phase;  // no value: nothing ran that the next task waited for
  TimePair time;
};

// What the critical paths spend on the tasks of a rank.
struct RankPathTimes {
  int32_t rank = -1;  // -1: no rank
  TimePair time;
};

struct PathComparison {
  std::vector<PathTimes> phases;     // those that are on a path
  std::vector<RankPathTimes> ranks;  // the same for ranks, in order
  int predicted_tasks = 0, measured_tasks = 0, common_tasks = 0;
};

// What the compute lane of a rank does. It is idle when it is not in a pass, up to the end of the
// last pass of all ranks; the idle time is a share of that period.
struct RankTimes {
  int32_t rank = -1;
  TimePair passes;
  double predicted_idle = 0, measured_idle = 0;
  Bytes predicted_peak, measured_peak;  // of memory; 0: not known

  std::optional<double> PeakError() const {
    if (predicted_peak == Bytes() || measured_peak == Bytes()) return {};
    return predicted_peak.gib() / measured_peak.gib() - 1;
  }
};

// Tasks that start before what they wait for has ended. Unless something is wrong, the overlap is
// at most the difference of clocks between devices.
struct EarlyStarts {
  int tasks = 0;
  Duration most;
};

struct TimelineComparison {
  TimePair step;
  std::optional<Duration> step_mean, step_sigma;  // measured, over CountedSteps()
  std::vector<PhaseTime> phases;                  // in order of phases; only phases that occur
  std::vector<OpClassTime> op_classes;
  PathComparison path;
  OverlapSlowDown predicted_slow_down, measured_slow_down;  // of passes of one op sequence
  OverlapSlowDown slow_down;                                // measured, relative to predictions
  std::vector<RankTimes> ranks;                             // those with a compute lane
  double predicted_idle = 0, measured_idle = 0;             // mean of all devices
  EarlyStarts early_starts;                                 // of the measured timeline
  std::vector<TaskId> worst_first;  // all tasks, by |predicted - measured| duration
};

// Counts are those of the first schedule; the schedules must not differ (schedule_difference.h).
// Takes time linear in the schedule, except for sorting its tasks.
TimelineComparison CompareTimelines(const TimelineRecord& predicted,
                                    const TimelineRecord& measured);

// Returns the duration of a task in both timelines.
TimePair DurationOf(const TimelineRecord& predicted, const TimelineRecord& measured, TaskId task);

}  // namespace stagecraft
