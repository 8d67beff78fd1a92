// TimelineComparison: a predicted and a measured timeline of one schedule, and where the
// prediction is wrong. The two are treated alike, whichever was measured.
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

// Tasks of one phase. Errors are shares, not percent.
struct PhaseTime {
  Phase phase = Phase::kForward;
  int tasks = 0;
  TimePair time;  // over all devices: a task counts once for each that it runs on
  // Over tasks that took any time: of the size of their errors, and of what a duration
  // varies by from step to step (sigma over duration), where that was measured.
  std::optional<double> median_absolute_error, median_sigma;
};

// What the critical paths spend on a phase; each path adds up to its step.
struct PathTimes {
  std::optional<Phase> phase;  // none: nothing ran that the next task waited for
  TimePair time;
};

// And on tasks of a rank.
struct RankPathTimes {
  int32_t rank = -1;  // -1: of no rank
  TimePair time;
};

struct PathComparison {
  std::vector<PathTimes> phases;     // those that are on a path
  std::vector<RankPathTimes> ranks;  // likewise, in order
  int predicted_tasks = 0, measured_tasks = 0, common_tasks = 0;
};

// What a rank's compute lane does. Idle: not in a pass, up to the end of the last pass of
// all, as a share of that time.
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

// Tasks that start before what they wait for has ended: by no more than clocks of devices
// differ, or something is wrong.
struct EarlyStarts {
  int tasks = 0;
  Duration most;
};

struct TimelineComparison {
  TimePair step;
  std::optional<Duration> step_mean, step_sigma;  // measured, over CountedSteps()
  std::vector<PhaseTime> phases;                  // in order of phases, those that there are
  std::vector<OpClassTime> op_classes;
  PathComparison path;
  OverlapSlowDown predicted_slow_down, measured_slow_down;  // of one block
  OverlapSlowDown slow_down;                                // measured, by what was predicted
  std::vector<RankTimes> ranks;                             // those with a compute lane
  double predicted_idle = 0, measured_idle = 0;             // mean of all devices
  EarlyStarts early_starts;                                 // of the measured timeline
  std::vector<TaskId> worst_first;  // all tasks, by |predicted - measured| duration
};

// Of schedules that do not differ (schedule_difference.h), the first one's counts. Cost:
// linear in the schedule but for sorting its tasks.
TimelineComparison CompareTimelines(const TimelineRecord& predicted,
                                    const TimelineRecord& measured);

// What a task took in both.
TimePair DurationOf(const TimelineRecord& predicted, const TimelineRecord& measured, TaskId task);

}  // namespace stagecraft
