#include "sim/analysis/lane_time.h"

#include <cmath>
#include <map>
#include <utility>

#include "sim/analysis/exposed_ops.h"
#include "sim/analysis/framework_spread.h"

namespace stagecraft {
namespace {

Duration& PartOf(const Op& op, uint8_t flags, Phase phase, Breakdown& parts) {
  if (phase == Phase::kOptimizer) return parts.optimizer;
  if (!IsCollective(op.kind)) return parts.compute;
  if ((flags & kContextGroup) != 0) return parts.context;
  return (flags & kExpertGroup) != 0 ? parts.expert : parts.tensor;
}

// Returns the part as which a lane's wait counts while a task of this phase runs.
Duration& PartOfWait(Phase phase, Breakdown& parts) {
  switch (phase) {
    case Phase::kSendForward:
    case Phase::kSendBackward:
    case Phase::kOffload:
    case Phase::kFetch:
    case Phase::kVocabularyExchange:
      return parts.pipeline;
    case Phase::kGradReduce:
    case Phase::kParamGather:
    case Phase::kGradNorm:
      return parts.data;
    case Phase::kContext:
      return parts.context;
    case Phase::kExpertExchange:
      return parts.expert;
    case Phase::kOptimizer:
      return parts.optimizer;
    default:
      return parts.bubble;
  }
}

bool Computes(Phase phase) { return IsPass(phase) || phase == Phase::kOptimizer; }

// Calls run(entry, task) for the lane's tasks within the span, and wait(entry, task, interval)
// whenever it idles before one of them or before the end.
template <typename Run, typename Wait>
void Walk(const Schedule& schedule, const Timeline& timeline, const LaneSpan& span, Run run,
          Wait wait) {
  const auto order = schedule.order(Lane(span.lane));
  Duration now = span.interval.begin;
  for (size_t entry = 0; entry < order.size(); ++entry) {
    const TaskId task = order[entry];
    const Duration start = timeline.start(task);
    const Duration end = timeline.end(task);
    if (start < span.interval.begin || end > span.interval.end) continue;
    if (start > now) wait(entry, task, Interval{now, start});
    run(entry, task);
    now = end;
  }
  if (span.interval.end > now) wait(order.size(), span.last, Interval{now, span.interval.end});
}

class Measurer {
 public:
  Measurer(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
           const TaskWaits& waits, const LaneSpan& span, const Repetition& repetition)
      : schedule_(schedule),
        timeline_(timeline),
        costs_(costs),
        waits_(waits),
        span_(span),
        repetition_(repetition),
        is_framework_(RunsInFramework(costs, schedule.lane_infos()[span.lane].rank)) {}

  LaneTime Run() {
    Walk(
        schedule_, timeline_, span_,
        [&](size_t entry, TaskId task) { AddTask(task, TimesOf(entry)); },
        [&](size_t entry, TaskId task, const Interval& interval) {
          AddWait(task, interval, TimesOf(entry));
        });
    AddOpSequences();
    return time_;
  }

 private:
  struct BusyOpSequence {
    int64_t times = 0;
    Duration length;  // of all of them
  };

  int64_t TimesOf(size_t entry) const {
    return repetition_.Count(span_.lane, static_cast<int>(entry));
  }

  void AddWait(TaskId task, const Interval& interval, int64_t times) {
    waits_.WalkBack(task, interval.begin, interval.end,
                    [&](TaskId by, Duration begin, Duration end, Activity /*activity*/) {
                      PartOfWait(schedule_.tag(by).phase, time_.parts) += times * (end - begin);
                    });
  }

  // The time of tasks that compute is divided among their ops later, when all of it has been added
  // up.
  void AddTask(TaskId task, int64_t times) {
    const Interval interval = {timeline_.start(task), timeline_.end(task)};
    const Phase phase = schedule_.tag(task).phase;
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    if (interval.length() == Duration()) return;
    if (!Computes(phase) || op_sequence < 0) {
      Duration& part = Computes(phase) ? time_.parts.compute : PartOfWait(phase, time_.parts);
      part += times * interval.length();
    }
    if (op_sequence < 0) return;
    BusyOpSequence& busy = busy_[{op_sequence, phase}];
    busy.times += times;
    busy.length += times * interval.length();
    time_.host_wait += times * waits_.LaunchTime(task);
  }

  // Divides the time of op sequences among their ops. Of ops side by side, compute comes first.
  void AddOpSequences() {
    const int32_t rank = schedule_.lane_infos()[span_.lane].rank;
    const std::vector<Estimate>& estimates = costs_.estimates[costs_.device_of_rank[rank]];
    for (const auto& [key, busy] : busy_) {
      const auto [op_sequence, phase] = key;
      const auto ops = schedule_.ops(op_sequence);
      const auto flags = schedule_.flags(op_sequence);
      const bool computes = Computes(phase);
      const int64_t times = busy.times;
      Duration counted;
      ForEachExposed(schedule_, op_sequence, estimates,
                     [&, phase = phase](size_t i, Duration exposed) {
                       const Duration time = times * exposed;
                       AddEstimate(schedule_.op(ops[i]).kind, estimates[ops[i]], time);
                       counted += time;
                       if (computes)
                         PartOf(schedule_.op(ops[i]), flags[i], phase, time_.parts) += time;
                     });
      if (!computes) continue;
      // A late launch, or a slower member of the group, stretches the task.
      Duration& stretched =
          phase == Phase::kOptimizer ? time_.parts.optimizer : time_.parts.compute;
      stretched += busy.length - counted;
    }
  }

  void AddEstimate(OpKind kind, const Estimate& estimate, Duration time) {
    time_.busy_seconds += time.seconds();
    time_.by_basis[static_cast<int>(estimate.basis)] += time.seconds();
    const double spread = std::hypot(estimate.spread, is_framework_ ? FrameworkSpread(kind) : 0);
    time_.spread_seconds += spread * time.seconds();
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  const TaskWaits& waits_;
  const LaneSpan& span_;
  const Repetition& repetition_;
  const bool is_framework_;
  std::map<std::pair<OpSequenceId, Phase>, BusyOpSequence> busy_;  // of the lane
  LaneTime time_;
};

}  // namespace

Duration Breakdown::Total() const {
  return compute + tensor + pipeline + data + context + expert + optimizer + bubble;
}

Breakdown Portion(const Breakdown& breakdown, int64_t share, int64_t of) {
  Breakdown portion = breakdown;
  Duration before, scaled_before;
  for (Duration* part : {&portion.compute, &portion.tensor, &portion.pipeline, &portion.data,
                         &portion.context, &portion.expert, &portion.optimizer, &portion.bubble}) {
    before += *part;
    const double ns = static_cast<double>(before.ns()) * static_cast<double>(share);
    const Duration scaled = Duration::RoundedNanoseconds(ns / static_cast<double>(of));
    *part = scaled - scaled_before;
    scaled_before = scaled;
  }
  return portion;
}

std::vector<Interval> IdleIntervals(const Schedule& schedule, const Timeline& timeline,
                                    const LaneSpan& span) {
  std::vector<Interval> idle;
  Walk(
      schedule, timeline, span, [](size_t, TaskId) {},
      [&](size_t, TaskId, const Interval& interval) { idle.push_back(interval); });
  return idle;
}

LaneTime MeasureLane(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                     const TaskWaits& waits, const LaneSpan& span, const Repetition& repetition) {
  return Measurer(schedule, timeline, costs, waits, span, repetition).Run();
}

}  // namespace stagecraft
