#include "sim/engine/compute_sharing.h"

#include <algorithm>
#include <utility>

namespace stagecraft {
namespace {

constexpr double kUnknown = -1;

// Describes a task of collectives on one of a rank's lanes.
struct Collective {
  Duration start, end;
  double slowdown = 0;
};

class Slowing {
 public:
  Slowing(const Schedule& schedule, const Timeline& timeline, const BoundCosts& costs)
      : schedule_(schedule),
        timeline_(timeline),
        costs_(costs),
        slowdowns_(costs.estimates.size() * schedule.op_sequence_count(), kUnknown),
        shares_(slowdowns_),
        lost_(schedule.task_count()) {}

  // Returns the time that each task loses; the result is empty if none does.
  std::vector<Duration> Run() {
    std::vector<std::vector<Collective>> by_rank(schedule_.ranks().size());
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      if (info.rank < 0 || info.kind == LaneKind::kCompute) continue;
      for (const TaskId task : schedule_.order(Lane(lane))) {
        AddCollective(task, info.rank, &by_rank[info.rank]);
      }
    }
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const LaneInfo& info = schedule_.lane_infos()[lane];
      if (info.rank < 0 || info.kind != LaneKind::kCompute) continue;
      std::vector<Collective>& collectives = by_rank[info.rank];
      if (collectives.empty()) continue;
      std::sort(collectives.begin(), collectives.end(),
                [](const Collective& a, const Collective& b) { return a.start < b.start; });
      Meet(schedule_.order(Lane(lane)), info.rank, collectives);
    }
    return any_ ? std::move(lost_) : std::vector<Duration>();
  }

 private:
  void AddCollective(TaskId task, int32_t rank, std::vector<Collective>* collectives) {
    if (schedule_.op_sequence(task) < 0) return;
    const double slowdown = MeanSlowdown(schedule_.op_sequence(task), rank);
    const Duration start = timeline_.start(task);
    const Duration end = timeline_.end(task);
    if (slowdown > 0 && end > start) collectives->push_back({start, end, slowdown});
  }

  // Returns what the ops of a sequence take from what computes beside them, on average over its
  // time.
  double MeanSlowdown(OpSequenceId op_sequence, int32_t rank) {
    const int device = costs_.device_of_rank[rank];
    const auto ops = schedule_.ops(op_sequence);
    if (ops.size() == 1) return costs_.estimates[device][ops[0]].slowdown;
    double& slowdown = slowdowns_[device * schedule_.op_sequence_count() + op_sequence];
    if (slowdown != kUnknown) return slowdown;
    double lost = 0;
    for (const OpId op : ops) {
      const Estimate& estimate = costs_.estimates[device][op];
      lost += estimate.slowdown * estimate.time.seconds();
    }
    const Duration all = costs_.op_sequences[device][op_sequence].device;
    slowdown = all > Duration() ? lost / all.seconds() : 0;
    return slowdown;
  }

  // Both are in order of time, and tasks run one after another.
  void Meet(std::span<const TaskId> tasks, int32_t rank, std::span<const Collective> collectives) {
    size_t first = 0;  // collectives before it ended before the task
    for (const TaskId task : tasks) {
      const Duration start = timeline_.start(task);
      const Duration end = timeline_.end(task);
      while (first < collectives.size() && collectives[first].end <= start) ++first;
      double seconds = 0;
      for (size_t i = first; i < collectives.size() && collectives[i].start < end; ++i) {
        const Duration beside =
            std::min(end, collectives[i].end) - std::max(start, collectives[i].start);
        if (beside > Duration()) seconds += collectives[i].slowdown * beside.seconds();
      }
      if (seconds == 0) continue;
      const Duration lost = Duration::Seconds(seconds * ComputingShare(task, rank));
      lost_[task] = std::max(lost_[task], lost);
      any_ = any_ || lost > Duration();
    }
  }

  // Returns the share of a task's time in which it computes; its other ops are collectives.
  double ComputingShare(TaskId task, int32_t rank) {
    const OpSequenceId op_sequence = schedule_.op_sequence(task);
    if (op_sequence < 0) return 0;
    const int device = costs_.device_of_rank[rank];
    double& share = shares_[device * schedule_.op_sequence_count() + op_sequence];
    if (share != kUnknown) return share;
    Duration computing;
    for (const OpId op : schedule_.ops(op_sequence)) {
      if (!IsCollective(schedule_.op(op).kind)) computing += costs_.estimates[device][op].time;
    }
    const Duration all = costs_.op_sequences[device][op_sequence].device;
    share = all > Duration() ? std::min(1.0, computing.seconds() / all.seconds()) : 0;
    return share;
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const BoundCosts& costs_;
  std::vector<double> slowdowns_, shares_;  // by distinct device and op sequence
  std::vector<Duration> lost_;
  bool any_ = false;
};

}  // namespace

std::vector<Duration> SlowCompute(const Schedule& schedule, const Timeline& timeline,
                                  const BoundCosts& costs, std::span<const Duration> durations) {
  std::vector<Duration> slowed = Slowing(schedule, timeline, costs).Run();
  for (size_t task = 0; task < slowed.size(); ++task) slowed[task] += durations[task];
  return slowed;
}

}  // namespace stagecraft
