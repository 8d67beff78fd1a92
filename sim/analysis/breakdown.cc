#include "sim/analysis/breakdown.h"

#include <algorithm>
#include <vector>

#include "sim/analysis/framework_spread.h"

namespace stagecraft {
namespace {

class Profiler {
 public:
  Profiler(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
           const Repetition& repetition)
      : schedule_(schedule), timeline_(timeline), costs_(costs), repetition_(repetition) {}

  StepProfile OfStep(StepEnds ends) {
    FindCriticalLane(ends);
    ProfileLane();
    profile_.bubble_fraction = IdleShare();
    return profile_;
  }

  StepProfile OfIntervals(std::span<const Interval> by_rank) {
    FindBusiestLane(by_rank);
    ProfileLane();
    return profile_;
  }

 private:
  void ProfileLane() {
    if (span_.lane < 0) return;
    const std::vector<Interval> idle = IdleIntervals(schedule_, timeline_, span_);
    const TaskWaits waits(schedule_, timeline_, &costs_, idle);
    if (span_.last < 0) span_.last = waits.last();
    const LaneTime time = MeasureLane(schedule_, timeline_, costs_, waits, span_, repetition_);
    profile_.critical_rank = schedule_.lane_infos()[span_.lane].rank;
    profile_.breakdown = time.parts;
    profile_.host_wait = time.host_wait;
    if (time.busy_seconds == 0) return;
    profile_.spread = time.spread_seconds / time.busy_seconds;
    if (RunsInFramework(costs_, profile_.critical_rank)) {
      profile_.spread += kHostSpread * (time.host_wait.seconds() / time.parts.Total().seconds());
    }
    for (int basis = 0; basis < kBasisCount; ++basis) {
      profile_.basis_share[basis] = time.by_basis[basis] / time.busy_seconds;
    }
  }

  // Returns for each rank the task that ends last on its lanes.
  std::vector<TaskId> LastOfRanks() const {
    std::vector<TaskId> last(schedule_.ranks().size(), -1);
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const auto order = schedule_.order(Lane(lane));
      if (order.empty()) continue;
      TaskId& known = last[schedule_.lane_infos()[lane].rank];
      if (known < 0 || timeline_.end(order.back()) > timeline_.end(known)) known = order.back();
    }
    return last;
  }

  void FindCriticalLane(StepEnds ends) {
    const bool is_apart = ends == StepEnds::kApart;
    std::vector<TaskId> last_of_ranks;
    if (is_apart) last_of_ranks = LastOfRanks();
    Duration longest = Duration::Nanoseconds(-1);
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      const auto order = schedule_.order(Lane(lane));
      if (info.kind != LaneKind::kCompute || order.empty()) continue;
      const TaskId last = is_apart ? last_of_ranks[info.rank] : order.back();
      const Duration begin = is_apart ? timeline_.start(order.front()) : Duration();
      const Duration end = timeline_.end(last);
      if (end - begin <= longest) continue;
      longest = end - begin;
      span_ = {lane, {begin, is_apart ? end : timeline_.makespan()}, is_apart ? last : -1};
    }
  }

  bool IsWithin(TaskId task, const Interval& interval) const {
    return timeline_.start(task) >= interval.begin && timeline_.end(task) <= interval.end;
  }

  // Finds the lane of the critical rank, and how much all lanes idle.
  void FindBusiestLane(std::span<const Interval> by_rank) {
    double idle = 0, all = 0, least = 2;
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      if (info.kind != LaneKind::kCompute) continue;
      const Interval& interval = by_rank[info.rank];
      Duration busy;
      for (const TaskId task : schedule_.order(Lane(lane))) {
        if (IsPass(schedule_.tag(task).phase) && IsWithin(task, interval)) {
          busy += timeline_.end(task) - timeline_.start(task);
        }
      }
      const double share = 1 - busy.seconds() / interval.length().seconds();
      const double weight = schedule_.ranks()[info.rank].multiplicity;
      idle += weight * share;
      all += weight;
      if (share >= least) continue;
      least = share;
      span_ = {lane, interval, -1};
    }
    profile_.bubble_fraction = all > 0 ? std::max(0.0, idle / all) : 0;
  }

  double IdleShare() const {
    Duration last;
    double busy = 0;
    int lanes = 0;
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      if (schedule_.lane_infos()[lane].kind != LaneKind::kCompute) continue;
      const double weight = schedule_.ranks()[schedule_.lane_infos()[lane].rank].multiplicity;
      lanes += static_cast<int>(weight);
      const auto order = schedule_.order(Lane(lane));
      Duration own;
      for (size_t i = 0; i < order.size(); ++i) {
        if (!IsPass(schedule_.tag(order[i]).phase)) continue;
        own += repetition_.Count(lane, static_cast<int>(i)) *
               (timeline_.end(order[i]) - timeline_.start(order[i]));
        last = std::max(last, timeline_.end(order[i]));
      }
      busy += weight * own.seconds();
    }
    if (lanes == 0 || last == Duration()) return 0;
    return std::max(0.0, 1 - busy / (lanes * (last + repetition_.Delay()).seconds()));
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  const Repetition& repetition_;
  LaneSpan span_;  // of the critical rank
  StepProfile profile_;
};

}  // namespace

StepProfile ProfileStep(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                        StepEnds ends, const Repetition& repetition) {
  return Profiler(schedule, timeline, costs, repetition).OfStep(ends);
}

StepProfile ProfileIntervals(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, std::span<const Interval> by_rank) {
  return Profiler(schedule, timeline, costs, {}).OfIntervals(by_rank);
}

}  // namespace stagecraft
