// The proof. A cut is a set of tasks that contains everything for which its tasks wait: all that
// start before some time. Let a period be the tasks between two cuts, `distance` entries of each
// lane's issue order apart, that run the same op sequences for other micro-batches. If what tasks
// beyond a cut depend on is as it was at the cut before, except for the length of the period, they
// start later by that length than their counterparts, period after period, as long as the order
// alternates; then what is left of the step follows, later by the length of all these periods.
//
// What they depend on is, first, the ends of tasks before the cut. A task beyond it starts no
// earlier than the last one before it on its lane ends, so no end before the earliest of these
// holds it back (`oldest`), and it is enough to compare the tasks since then. Second, it is when
// the host is done with its launches (HostRepeats()).
//
// The first replay repeats itself by that alone, with a period of its own. Durations that depend on
// what else runs at the time (the second replay) repeat if the times of the first do, and if no
// task is longer than the period, so that what runs beside it is in the same period or the next.
#include "sim/engine/repetition.h"

#include <algorithm>

namespace stagecraft {
namespace {

struct Cut {
  Duration time;
  std::vector<int32_t> entries;  // by lane: how many entries of its order are before the cut
  Duration oldest;
};

// A lane that runs nothing for a micro-batch before the cut.
constexpr int32_t kIdle = 0;

class Proof {
 public:
  Proof(const Schedule& schedule, std::span<const Replay> replays, std::span<const Launch> launches)
      : schedule_(schedule), replays_(replays), launches_(launches) {}

  // Whether there is a cut before the last forward of the first lane in every replay.
  bool FindCuts() {
    const std::span<const TaskId> order = schedule_.order(Lane(0));
    const auto last = std::find_if(order.rbegin(), order.rend(), [&](TaskId task) {
      const Tag& tag = schedule_.tag(task);
      return tag.phase == Phase::kForward && tag.segment == 0;
    });
    if (last == order.rend()) return false;
    for (const Replay& replay : replays_) {
      if (!AddCut(replay, replay.timeline.start(*last))) return false;
    }
    return true;
  }

  // Tries periods of this number of micro-batches.
  std::optional<Repetition> Try(int64_t micro_batches) {
    micro_batches_ = micro_batches;
    Repetition repetition;
    repetition.parts.resize(schedule_.lane_count());
    for (size_t r = 0; r < replays_.size(); ++r) {
      period_ = Duration();
      for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
        const int32_t end = cuts_[r].entries[lane];
        const int32_t distance = Distance(lane, end);
        if (distance < 0 || !LaneRepeats(r, lane, distance)) return std::nullopt;
        Repetition::Part& part = repetition.parts[lane];
        if (r > 0 && part.last - part.first != distance) return std::nullopt;
        if (r > 0 && !DurationsRepeat(lane, part.last, end, distance)) return std::nullopt;
        part = {end - distance, end};
      }
      if (r == 0) repetition.unshared_period = period_;
    }
    repetition.period = period_;
    return repetition;
  }

 private:
  bool AddCut(const Replay& replay, Duration time) {
    Cut cut{time, {}, Duration::Max()};
    Duration latest_idle;
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      const std::span<const TaskId> order = schedule_.order(Lane(lane));
      const auto end = std::partition_point(order.begin(), order.end(), [&](TaskId task) {
        return replay.timeline.start(task) < time;
      });
      cut.entries.push_back(static_cast<int32_t>(end - order.begin()));
      if (end == order.begin()) continue;
      const Duration last = replay.timeline.end(end[-1]);
      if (IsIdle(lane, cut.entries.back())) {
        latest_idle = std::max(latest_idle, last);
      } else {
        cut.oldest = std::min(cut.oldest, last);
      }
    }
    // Everything that waits for idle lanes alone has begun.
    const bool is_found = latest_idle < cut.time;
    cuts_.push_back(std::move(cut));
    return is_found;
  }

  bool IsIdle(int lane, int32_t end) const {
    return end == 0 || schedule_.tag(schedule_.order(Lane(lane))[end - 1]).micro_batch < 0;
  }

  // Whether the tasks do the same for different micro-batches.
  bool AreAlike(TaskId earlier, TaskId later) const {
    const Tag& a = schedule_.tag(earlier);
    const Tag& b = schedule_.tag(later);
    return a.phase == b.phase && a.chunk == b.chunk && a.segment == b.segment &&
           a.micro_batch + micro_batches_ == b.micro_batch &&
           schedule_.op_sequence(earlier) == schedule_.op_sequence(later);
  }

  // The number of entries from the last one before the cut back to the one that it repeats; -1:
  // there is none.
  int32_t Distance(int lane, int32_t end) const {
    if (IsIdle(lane, end)) return kIdle;
    const std::span<const TaskId> order = schedule_.order(Lane(lane));
    for (int32_t distance = 1; distance < end; ++distance) {
      if (AreAlike(order[end - 1 - distance], order[end - 1])) return distance;
    }
    return -1;
  }

  bool LaneRepeats(size_t r, int lane, int32_t distance) {
    const Cut& cut = cuts_[r];
    const int32_t end = cut.entries[lane];
    if (distance != kIdle) {
      if (schedule_.lane_infos()[lane].kind == LaneKind::kCompute &&
          !Alternates(lane, end - distance, end)) {
        return false;
      }
      if (!TimesRepeat(replays_[r], cut, lane, distance)) return false;
    }
    return launches_.empty() || HostRepeats(replays_[r], lane, end, distance);
  }

  // Whether backwards have begun before the period and forwards go on after it.
  bool Alternates(int lane, int32_t first, int32_t end) const {
    const std::span<const TaskId> order = schedule_.order(Lane(lane));
    const auto begun = std::find_if(order.begin(), order.begin() + first, [&](TaskId task) {
      return schedule_.tag(task).phase == Phase::kBackward;
    });
    const auto goes_on = std::find_if(order.begin() + end, order.end(), [&](TaskId task) {
      return schedule_.tag(task).phase == Phase::kForward;
    });
    return begun != order.begin() + first && goes_on != order.end();
  }

  bool TimesRepeat(const Replay& replay, const Cut& cut, int lane, int32_t distance) {
    const std::span<const TaskId> order = schedule_.order(Lane(lane));
    const Timeline& timeline = replay.timeline;
    const int32_t end = cut.entries[lane];
    if (period_ == Duration()) {
      period_ = timeline.start(order[end - 1]) - timeline.start(order[end - 1 - distance]);
    }
    if (timeline.end(order[end - 1]) - period_ > cut.time) return false;
    for (int32_t entry = end - 1;; --entry) {
      if (entry < distance) return false;
      const TaskId later = order[entry];
      const TaskId earlier = order[entry - distance];
      const bool is_repeated = AreAlike(earlier, later) &&
                               timeline.start(later) - timeline.start(earlier) == period_ &&
                               timeline.end(later) - timeline.end(earlier) == period_ &&
                               replay.durations[later] == replay.durations[earlier];
      if (!is_repeated) return false;
      if (timeline.end(later) <= cut.oldest) return true;
    }
  }

  // What lies between the cuts of two replays may be counted to either side, and what runs at a cut
  // has other tasks beside it than a period before.
  bool DurationsRepeat(int lane, int32_t first_cut, int32_t second_cut, int32_t distance) const {
    if (distance == kIdle) return first_cut == second_cut;
    const std::span<const TaskId> order = schedule_.order(Lane(lane));
    const std::vector<Duration>& durations = replays_.back().durations;
    const auto [begin, end] = std::minmax(first_cut, second_cut);
    for (int32_t entry = std::max(0, begin - 1); entry < end; ++entry) {
      if (entry < distance || !AreAlike(order[entry - distance], order[entry]) ||
          durations[order[entry - distance]] != durations[order[entry]]) {
        return false;
      }
    }
    return true;
  }

  // Whether the host is done with a lane's launches one period later than a period before.
  // Otherwise it must be further ahead, and from then on so far ahead that nothing waits for it,
  // until it waits for a task itself and its lead no longer matters.
  bool HostRepeats(const Replay& replay, int lane, int32_t end, int32_t distance) const {
    const std::span<const TaskId> order = schedule_.order(Lane(lane));
    if (distance != kIdle) {
      const std::optional<Duration> now = LastLaunch(replay, order.first(end));
      const std::optional<Duration> before = LastLaunch(replay, order.first(end - distance));
      if (!now && !before) return true;
      if (!now || !before || *now - *before > period_) return false;
      if (*now - *before == period_) return true;
    }
    for (int32_t entry = end - distance; entry < static_cast<int32_t>(order.size()); ++entry) {
      const TaskId task = order[entry];
      const Launch& launch = launches_[task];
      if (launch.total == Duration()) continue;
      const Duration start = replay.timeline.start(task);
      const Duration turned = replay.launched[task] - launch.total;
      if (launch.waits) {
        if (turned != start) return false;
        if (entry >= end) return true;
      } else if (turned + launch.lead > start) {
        return false;
      }
    }
    return true;
  }

  std::optional<Duration> LastLaunch(const Replay& replay, std::span<const TaskId> tasks) const {
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(),
                                   [&](TaskId task) { return launches_[task].total > Duration(); });
    if (last == tasks.rend()) return std::nullopt;
    return replay.launched[*last];
  }

  const Schedule& schedule_;
  std::span<const Replay> replays_;
  std::span<const Launch> launches_;
  std::vector<Cut> cuts_;  // by replay
  int64_t micro_batches_ = 0;
  Duration period_;  // of the current replay
};

}  // namespace

std::optional<Repetition> FindRepetition(const Schedule& schedule, std::span<const Replay> replays,
                                         std::span<const Launch> launches, int64_t more,
                                         int64_t group) {
  Proof proof(schedule, replays, launches);
  if (schedule.lane_count() == 0 || !proof.FindCuts()) return std::nullopt;
  for (int64_t period = group; period <= more; period += group) {
    if (more % period != 0) continue;
    std::optional<Repetition> found = proof.Try(period);
    if (!found) continue;
    found->times = more / period;
    return found;
  }
  return std::nullopt;
}

}  // namespace stagecraft
