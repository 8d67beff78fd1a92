#include "sim/analysis/overlap_slow_down.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/schedule/task_devices.h"

namespace stagecraft {
namespace {

constexpr double kLeastBeside = 0.5;
constexpr double kMostAlone = 0.1;

// The times at which something runs, as intervals that do not touch, in order.
class Cover {
 public:
  void Add(Duration begin, Duration end) {
    if (end > begin) intervals_.emplace_back(begin, end);
  }

  void Merge() {
    std::sort(intervals_.begin(), intervals_.end());
    std::vector<std::pair<Duration, Duration>> merged;
    for (const auto& [begin, end] : intervals_) {
      if (!merged.empty() && begin <= merged.back().second) {
        merged.back().second = std::max(merged.back().second, end);
      } else {
        merged.emplace_back(begin, end);
      }
    }
    intervals_ = std::move(merged);
  }

  // Returns how much of [from, to) is covered.
  Duration Within(Duration from, Duration to) const {
    Duration covered;
    auto next = std::partition_point(intervals_.begin(), intervals_.end(),
                                     [&](const auto& interval) { return interval.second <= from; });
    for (; next != intervals_.end() && next->first < to; ++next) {
      covered += std::min(next->second, to) - std::max(next->first, from);
    }
    return covered;
  }

 private:
  std::vector<std::pair<Duration, Duration>> intervals_;
};

// Returns for each rank when its lanes other than the compute lane run something.
std::vector<Cover> CoverByRank(const Schedule& schedule, const Timeline& timeline) {
  std::vector<Cover> covers(schedule.ranks().size());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (IsPass(schedule.tag(task).phase)) continue;
    for (const Lane lane : schedule.lanes(task)) {
      const int32_t rank = RankOf(schedule, lane);
      if (rank < 0 || schedule.lane_infos()[Index(lane)].kind == LaneKind::kCompute) continue;
      covers[rank].Add(timeline.start(task), timeline.end(task));
    }
  }
  for (Cover& cover : covers) cover.Merge();
  return covers;
}

struct Passes {
  int64_t count = 0;
  double seconds = 0;
  double weight = 0;

  void Add(Duration time, double pass_weight) {
    ++count;
    seconds += time.seconds();
    weight += pass_weight;
  }
};

struct Kind {
  Passes beside, alone;
};
using Kinds = std::map<std::pair<int32_t, int32_t>, Kind>;  // by op sequence or phase, then rank

OverlapSlowDown SumUp(const Kinds& kinds) {
  OverlapSlowDown result;
  double taken = 0, alone = 0;
  for (const auto& [key, kind] : kinds) {
    if (kind.alone.count == 0 || kind.beside.count == 0) {
      result.unmatched += kind.beside.count;
      continue;
    }
    result.beside += kind.beside.count;
    result.alone += kind.alone.count;
    taken += kind.beside.seconds;
    alone += kind.alone.seconds / kind.alone.weight * kind.beside.weight;
  }
  if (alone > 0) result.ratio = taken / alone;
  return result;
}

// Compares passes. Those with the same kind_of(task) would take times in proportion to
// weight_of(task) if all ran alone; those without weight are left out.
template <typename KindOf, typename WeightOf>
OverlapSlowDown Find(const Schedule& schedule, const Timeline& timeline, KindOf kind_of,
                     WeightOf weight_of) {
  const std::vector<Cover> covers = CoverByRank(schedule, timeline);
  Kinds kinds;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Duration time = timeline.end(task) - timeline.start(task);
    const double weight = weight_of(task);
    if (!IsPass(schedule.tag(task).phase) || time == Duration() || weight <= 0) continue;
    for (const Lane lane : schedule.lanes(task)) {
      const int32_t rank = RankOf(schedule, lane);
      if (rank < 0 || schedule.lane_infos()[Index(lane)].kind != LaneKind::kCompute) continue;
      const Duration covered = covers[rank].Within(timeline.start(task), timeline.end(task));
      const double share = covered.seconds() / time.seconds();
      Kind& kind = kinds[{kind_of(task), rank}];
      if (share >= kLeastBeside) kind.beside.Add(time, weight);
      if (share < kMostAlone) kind.alone.Add(time, weight);
    }
  }
  return SumUp(kinds);
}

}  // namespace

OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& timeline) {
  return Find(
      schedule, timeline, [&](TaskId task) { return schedule.op_sequence(task); },
      [&](TaskId task) { return schedule.op_sequence(task) < 0 ? 0.0 : 1.0; });
}

OverlapSlowDown FindOverlapSlowDown(const Schedule& schedule, const Timeline& measured,
                                    const Timeline& predicted) {
  return Find(
      schedule, measured,
      [&](TaskId task) { return static_cast<int32_t>(schedule.tag(task).phase); },
      [&](TaskId task) { return (predicted.end(task) - predicted.start(task)).seconds(); });
}

}  // namespace stagecraft
