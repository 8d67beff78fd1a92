#include "sim/breakdown.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/exposed_ops.h"

namespace stagecraft {
namespace {

Duration& PartOf(const Op& op, uint8_t flags, Phase phase, Breakdown& parts) {
  if (phase == Phase::kOptimizer) return parts.optimizer;
  if (phase == Phase::kGradNorm || phase == Phase::kGradReduce || phase == Phase::kParamGather) {
    return parts.data;
  }
  if (phase == Phase::kSendForward || phase == Phase::kSendBackward) return parts.pipeline;
  if (!IsCollective(op.kind)) return parts.compute;
  if ((flags & kContextGroup) != 0) return parts.context;
  return (flags & kExpertGroup) != 0 ? parts.expert : parts.tensor;
}

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
    if (lane_ < 0) return;
    profile_.critical_rank = schedule_.lane_infos()[lane_].rank;
    FindPredecessors();
    WalkLane();
    AddBlocks();
    Normalise();
  }

  // The last end of each rank's lanes.
  std::vector<Duration> RankEnds() const {
    std::vector<Duration> ends(schedule_.ranks().size());
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const auto order = schedule_.order(Lane(lane));
      if (order.empty()) continue;
      Duration& end = ends[schedule_.lane_infos()[lane].rank];
      end = std::max(end, timeline_.end(order.back()));
    }
    return ends;
  }

  void FindCriticalLane(StepEnds ends) {
    const bool is_apart = ends == StepEnds::kApart;
    std::vector<Duration> rank_ends;
    if (is_apart) rank_ends = RankEnds();
    Duration longest = Duration::Nanoseconds(-1);
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      const auto order = schedule_.order(Lane(lane));
      if (info.kind != LaneKind::kCompute || order.empty()) continue;
      const Duration begin = is_apart ? timeline_.start(order.front()) : Duration();
      const Duration end = is_apart ? rank_ends[info.rank] : timeline_.end(order.back());
      if (end - begin <= longest) continue;
      longest = end - begin;
      lane_ = lane;
      begin_ = begin;
      end_ = is_apart ? end : timeline_.makespan();
    }
  }

  bool IsWithin(TaskId task, const Interval& interval) const {
    return timeline_.start(task) >= interval.begin && timeline_.end(task) <= interval.end;
  }

  // Also how much all of them idle.
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
      lane_ = lane;
      begin_ = interval.begin;
      end_ = interval.end;
    }
    profile_.bubble_fraction = all > 0 ? std::max(0.0, idle / all) : 0;
  }

  // Predecessors of the tasks on the critical lane.
  void FindPredecessors() {
    std::vector<int32_t> slot(schedule_.task_count(), -1);
    const auto order = schedule_.order(Lane(lane_));
    for (size_t i = 0; i < order.size(); ++i) slot[order[i]] = static_cast<int32_t>(i);
    binding_.assign(order.size(), -1);
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      for (const TaskId next : schedule_.successors(task)) {
        if (slot[next] < 0) continue;
        TaskId& binding = binding_[slot[next]];
        if (binding < 0 || timeline_.end(task) > timeline_.end(binding)) binding = task;
      }
    }
  }

  void WalkLane() {
    Duration now = begin_;
    const auto order = schedule_.order(Lane(lane_));
    for (size_t i = 0; i < order.size(); ++i) {
      const TaskId task = order[i];
      if (!IsWithin(task, {begin_, end_})) continue;
      const int64_t times = repetition_.Count(lane_, static_cast<int>(i));
      if (timeline_.start(task) > now) AddWait(now, timeline_.start(task), binding_[i], times);
      AddBusy(task, times);
      now = timeline_.end(task);
    }
    if (end_ > now) profile_.breakdown.data += end_ - now;
  }

  // The part of a wait in which its last cause was at work belongs to that
  // cause, the rest is bubble.
  void AddWait(Duration from, Duration to, TaskId cause, int64_t times) {
    Breakdown& parts = profile_.breakdown;
    const Duration begin = cause < 0 ? to : std::clamp(timeline_.start(cause), from, to);
    parts.bubble += times * (begin - from);
    if (cause >= 0) PartOfWait(schedule_.tag(cause).phase) += times * (to - begin);
  }

  Duration& PartOfWait(Phase cause) {
    switch (cause) {
      case Phase::kSendForward:
      case Phase::kSendBackward:
      case Phase::kOffload:
      case Phase::kFetch:
        return profile_.breakdown.pipeline;
      case Phase::kGradReduce:
      case Phase::kParamGather:
      case Phase::kGradNorm:
        return profile_.breakdown.data;
      default:
        return profile_.breakdown.bubble;
    }
  }

  // What runs of a block is split among its ops when all of it is counted.
  void AddBusy(TaskId task, int64_t times) {
    const BlockId block = schedule_.block(task);
    const Duration length = timeline_.end(task) - timeline_.start(task);
    if (block < 0 || length == Duration()) return;
    const Phase phase = schedule_.tag(task).phase;
    BusyBlock& busy = busy_[{block, phase}];
    busy.times += times;
    busy.length += times * length;
    // A late launch, or a slower member of the group, stretches a pass; what its
    // rank sends beside it, a message.
    const bool is_message = phase == Phase::kSendForward || phase == Phase::kSendBackward;
    if (is_message) return;
    profile_.host_wait += times * (length - costs_.TaskTimes(schedule_, task).device);
  }

  // Of ops side by side compute counts first.
  void AddBlocks() {
    const std::vector<Estimate>& estimates =
        costs_.estimates[costs_.device_of_rank[profile_.critical_rank]];
    Breakdown& parts = profile_.breakdown;
    for (const auto& [key, busy] : busy_) {
      const auto [block, phase] = key;
      const auto ops = schedule_.ops(block);
      const auto flags = schedule_.flags(block);
      Duration counted;
      const int64_t times = busy.times;
      ForEachExposed(schedule_, block, estimates, [&, phase = phase](size_t i, Duration exposed) {
        const Duration time = times * exposed;
        Add(estimates[ops[i]], time, PartOf(schedule_.op(ops[i]), flags[i], phase, parts));
        counted += time;
      });
      Duration& stretched =
          IsPass(phase) ? parts.compute : PartOf(schedule_.op(ops[0]), flags[0], phase, parts);
      stretched += busy.length - counted;
    }
  }

  void Add(const Estimate& estimate, Duration time, Duration& part) {
    part += time;
    busy_seconds_ += time.seconds();
    profile_.basis_share[static_cast<int>(estimate.basis)] += time.seconds();
    profile_.spread += estimate.spread * time.seconds();
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

  void Normalise() {
    if (busy_seconds_ == 0) return;
    for (double& share : profile_.basis_share) share /= busy_seconds_;
    profile_.spread /= busy_seconds_;
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  const Repetition& repetition_;
  int lane_ = -1;  // of the critical rank
  Duration begin_, end_;
  double busy_seconds_ = 0;
  std::vector<TaskId> binding_;  // by position on the lane: the last to end
  struct BusyBlock {
    int64_t times = 0;
    Duration length;  // of all of them
  };
  std::map<std::pair<BlockId, Phase>, BusyBlock> busy_;  // of the lane
  StepProfile profile_;
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
    const Duration scaled = Duration::Nanoseconds(std::llround(ns / static_cast<double>(of)));
    *part = scaled - scaled_before;
    scaled_before = scaled;
  }
  return portion;
}

StepProfile ProfileStep(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs,
                        StepEnds ends, const Repetition& repetition) {
  return Profiler(schedule, timeline, costs, repetition).OfStep(ends);
}

StepProfile ProfileIntervals(const Schedule& schedule, const Timeline& timeline,
                             const BoundCosts& costs, std::span<const Interval> by_rank) {
  return Profiler(schedule, timeline, costs, {}).OfIntervals(by_rank);
}

}  // namespace stagecraft
