#include "sim/analysis/timeline_comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "costmodel/check.h"
#include "costmodel/statistics.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/task_waits.h"
#include "sim/schedule/task_devices.h"

namespace stagecraft {
namespace {

Duration Length(const Timeline& timeline, TaskId task) {
  return timeline.end(task) - timeline.start(task);
}

class Comparer {
 public:
  Comparer(const TimelineRecord& predicted, const TimelineRecord& measured)
      : predicted_(predicted), measured_(measured), schedule_(predicted.schedule) {
    CHECK(measured.schedule.task_count() == schedule_.task_count());
  }

  TimelineComparison Compare() {
    result_.step = {predicted_.timeline.makespan(), measured_.timeline.makespan()};
    if (measured_.measurement) SummariseSteps(CountedSteps(*measured_.measurement));
    ComparePhases();
    result_.op_classes = TimeByOpClass(predicted_, measured_);
    ComparePaths();
    result_.predicted_slow_down = FindOverlapSlowDown(schedule_, predicted_.timeline);
    result_.measured_slow_down = FindOverlapSlowDown(schedule_, measured_.timeline);
    result_.slow_down = FindOverlapSlowDown(schedule_, measured_.timeline, predicted_.timeline);
    CompareRanks();
    FindEarlyStarts();
    SortTasks();
    return std::move(result_);
  }

 private:
  void SummariseSteps(std::span<const Duration> steps) {
    if (steps.empty()) return;
    std::vector<double> seconds;
    for (const Duration step : steps) seconds.push_back(step.seconds());
    result_.step_mean = Duration::Seconds(Mean(seconds));
    if (steps.size() > 1) result_.step_sigma = Duration::Seconds(Sigma(seconds));
  }

  void ComparePhases() {
    struct Tasks {
      PhaseTime time;
      std::vector<double> errors, sigmas;
    };
    std::array<Tasks, kPhaseCount> phases;
    const std::vector<int64_t> devices = DevicesByTask(schedule_);
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      Tasks& tasks = phases[static_cast<int>(schedule_.tag(task).phase)];
      const TimePair time = DurationOf(predicted_, measured_, task);
      ++tasks.time.tasks;
      tasks.time.time.predicted += devices[task] * time.predicted;
      tasks.time.time.measured += devices[task] * time.measured;
      const std::optional<double> error = time.Error();
      if (!error) continue;
      tasks.errors.push_back(std::abs(*error));
      if (const std::optional<Duration> sigma = SigmaOf(task)) {
        tasks.sigmas.push_back(sigma->seconds() / time.measured.seconds());
      }
    }
    for (int phase = 0; phase < kPhaseCount; ++phase) {
      Tasks& tasks = phases[phase];
      if (tasks.time.tasks == 0) continue;
      tasks.time.phase = static_cast<Phase>(phase);
      if (!tasks.errors.empty()) tasks.time.median_absolute_error = Median(tasks.errors);
      if (!tasks.sigmas.empty()) tasks.time.median_sigma = Median(tasks.sigmas);
      result_.phases.push_back(tasks.time);
    }
  }

  std::optional<Duration> SigmaOf(TaskId task) const {
    if (!measured_.measurement || measured_.measurement->task_sigma.empty()) return {};
    return measured_.measurement->task_sigma[task];
  }

  struct PathSums {
    std::array<TimePair, kPhaseCount + 1> phases;  // the last: nothing ran
    std::vector<TimePair> ranks;                   // by rank + 1
  };

  // Adds the timeline's critical path to one side of `sums`. Returns, by task, whether it is on the
  // path.
  std::vector<bool> AddPath(const Timeline& timeline, Duration TimePair::*side,
                            PathSums& sums) const {
    std::vector<bool> is_on_path(schedule_.task_count());
    const TaskWaits waits(schedule_, timeline, nullptr);
    for (const PathSegment& segment : FindCriticalPath(timeline, waits)) {
      const bool runs = segment.activity == Activity::kWork;
      const int part = runs ? static_cast<int>(schedule_.tag(segment.task).phase) : kPhaseCount;
      sums.phases[part].*side += segment.to - segment.from;
      sums.ranks[FirstRankOf(schedule_, segment.task) + 1].*side += segment.to - segment.from;
      if (runs) is_on_path[segment.task] = true;
    }
    return is_on_path;
  }

  void ComparePaths() {
    PathSums sums;
    sums.ranks.resize(schedule_.ranks().size() + 1);
    const auto predicted = AddPath(predicted_.timeline, &TimePair::predicted, sums);
    const auto measured = AddPath(measured_.timeline, &TimePair::measured, sums);
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      result_.path.predicted_tasks += predicted[task] ? 1 : 0;
      result_.path.measured_tasks += measured[task] ? 1 : 0;
      result_.path.common_tasks += predicted[task] && measured[task] ? 1 : 0;
    }
    const auto is_on_none = [](const TimePair& time) {
      return time.predicted == Duration() && time.measured == Duration();
    };
    for (int part = 0; part <= kPhaseCount; ++part) {
      if (is_on_none(sums.phases[part])) continue;
      PathTimes& row = result_.path.phases.emplace_back();
      if (part < kPhaseCount) row.phase = static_cast<Phase>(part);
      row.time = sums.phases[part];
    }
    for (size_t i = 0; i < sums.ranks.size(); ++i) {
      if (is_on_none(sums.ranks[i])) continue;
      result_.path.ranks.push_back({static_cast<int32_t>(i) - 1, sums.ranks[i]});
    }
  }

  // Returns the time up to which compute lanes could be in passes.
  Duration EndOfPasses(const Timeline& timeline) const {
    Duration last;
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      if (IsPass(schedule_.tag(task).phase)) last = std::max(last, timeline.end(task));
    }
    return last;
  }

  void CompareRanks() {
    const TimePair all = {EndOfPasses(predicted_.timeline), EndOfPasses(measured_.timeline)};
    const auto idle = [](Duration busy, Duration of) {
      return of == Duration() ? 0 : std::max(0.0, 1 - busy.seconds() / of.seconds());
    };
    double devices = 0;
    for (size_t lane = 0; lane < schedule_.lane_infos().size(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      if (info.kind != LaneKind::kCompute || info.rank < 0) continue;
      RankTimes row;
      row.rank = info.rank;
      for (const TaskId task : schedule_.order(Lane(static_cast<int32_t>(lane)))) {
        if (!IsPass(schedule_.tag(task).phase)) continue;
        row.passes.predicted += Length(predicted_.timeline, task);
        row.passes.measured += Length(measured_.timeline, task);
      }
      row.predicted_idle = idle(row.passes.predicted, all.predicted);
      row.measured_idle = idle(row.passes.measured, all.measured);
      row.predicted_peak = PeakOf(predicted_, info.rank);
      row.measured_peak = PeakOf(measured_, info.rank);
      const double weight = schedule_.ranks()[info.rank].multiplicity;
      result_.predicted_idle += weight * row.predicted_idle;
      result_.measured_idle += weight * row.measured_idle;
      devices += weight;
      result_.ranks.push_back(row);
    }
    if (devices == 0) return;
    result_.predicted_idle /= devices;
    result_.measured_idle /= devices;
  }

  static Bytes PeakOf(const TimelineRecord& record, int32_t rank) {
    return record.peak_memory.empty() ? Bytes() : record.peak_memory[rank];
  }

  void FindEarlyStarts() {
    const Timeline& timeline = measured_.timeline;
    std::vector<Duration> free(schedule_.task_count());  // when what it waits for has ended
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const auto hold = [&](TaskId next) {
        if (next >= 0) free[next] = std::max(free[next], timeline.end(task));
      };
      for (const TaskId next : schedule_.successors(task)) hold(next);
      for (const TaskId next : schedule_.next_on_lanes(task)) hold(next);
    }
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      if (timeline.start(task) >= free[task]) continue;
      ++result_.early_starts.tasks;
      result_.early_starts.most =
          std::max(result_.early_starts.most, free[task] - timeline.start(task));
    }
  }

  void SortTasks() {
    std::vector<Duration> errors;
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      errors.push_back(DurationOf(predicted_, measured_, task).AbsoluteDifference());
    }
    result_.worst_first.resize(errors.size());
    std::iota(result_.worst_first.begin(), result_.worst_first.end(), 0);
    std::stable_sort(result_.worst_first.begin(), result_.worst_first.end(),
                     [&](TaskId a, TaskId b) { return errors[a] > errors[b]; });
  }

  const TimelineRecord& predicted_;
  const TimelineRecord& measured_;
  const Schedule& schedule_;
  TimelineComparison result_;
};

}  // namespace

TimePair DurationOf(const TimelineRecord& predicted, const TimelineRecord& measured, TaskId task) {
  return {Length(predicted.timeline, task), Length(measured.timeline, task)};
}

TimelineComparison CompareTimelines(const TimelineRecord& predicted,
                                    const TimelineRecord& measured) {
  return Comparer(predicted, measured).Compare();
}

}  // namespace stagecraft
