#include "sim/memory/memory_curve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/memory/rank_tensors.h"

namespace stagecraft {
namespace {

// Returns the end of the pass whose first part is at `first`; its parts follow each other on its
// lane.
size_t EndOfPass(const Schedule& schedule, std::span<const TaskId> order, size_t first) {
  size_t end = first + 1;
  while (end < order.size() && schedule.tag(order[end]).segment > 0) ++end;
  return end;
}

Duration Between(Duration start, Duration end, double share) {
  return start + Duration::Seconds((end - start).seconds() * share);
}

// OperatorPeak is the most that is held while an operator of a pass runs, beyond what is held at
// the start of the pass.
struct OperatorPeak {
  double at = 0;  // share of the pass's operators that ran before it
  int64_t most = 0;
};

// Returns the peaks of a pass's operators, without those that equal the peak of the operator
// before. What follows the last operator counts among what the pass leaves behind.
std::vector<OperatorPeak> OperatorPeaks(const PassTensors& pass, bool makes_gradients) {
  std::vector<OperatorPeak> peaks;
  int64_t held = 0;
  for (size_t i = 0; i < pass.events.size();) {
    const int32_t step = pass.events[i].step;
    int64_t most = held;
    for (; i < pass.events.size() && pass.events[i].step == step; ++i) {
      if (pass.events[i].role == TensorRole::kGradient && !makes_gradients) continue;
      held += pass.events[i].change;
      most = std::max(most, held);
    }
    if (step >= pass.steps) break;
    if (!peaks.empty() && peaks.back().most == most) continue;
    peaks.push_back({static_cast<double>(step) / pass.steps, most});
  }
  return peaks;
}

// Returns, in order of time, how copies to and from the host change what a rank's device holds:
// bytes leave it when a copy out ends, and take up their place again when a copy back begins.
std::vector<std::pair<Duration, Bytes>> CopyChanges(const Schedule& schedule,
                                                    const Timeline& timeline,
                                                    const RankTensors& rank,
                                                    std::span<const TaskId> order) {
  std::vector<std::pair<Duration, Bytes>> changes;
  for (const TaskId task : order) {
    const Tag& tag = schedule.tag(task);
    const Bytes bytes = rank.Offloaded(tag.chunk);
    if (tag.phase == Phase::kOffload) {
      changes.emplace_back(timeline.end(task), Bytes() - bytes);
    } else {
      changes.emplace_back(timeline.start(task), bytes);
    }
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

// Returns the curve with `changes` added to it; of entries at the same time the curve's come first.
std::vector<MemoryChange> WithChanges(const std::vector<MemoryChange>& curve,
                                      const std::vector<std::pair<Duration, Bytes>>& changes) {
  std::vector<MemoryChange> sum;
  Bytes under, over;
  size_t next = 0;
  for (const MemoryChange& entry : curve) {
    for (; next < changes.size() && changes[next].first < entry.time; ++next) {
      over += changes[next].second;
      sum.push_back({changes[next].first, under + over});
    }
    under = entry.used;
    sum.push_back({entry.time, under + over});
  }
  for (; next < changes.size(); ++next) {
    over += changes[next].second;
    sum.push_back({changes[next].first, under + over});
  }
  return sum;
}

class CurveMaker {
 public:
  CurveMaker(const Schedule& schedule, const Timeline& timeline, CurveDetail detail)
      : schedule_(schedule), timeline_(timeline), detail_(detail) {}

  std::vector<MemoryChange> Make(const RankTensors& rank, std::span<const TaskId> order) {
    Bytes held = rank.Static() + rank.nccl + ContextMemory();
    Bytes gradients;  // that backwards have made
    GradientMakers makers(rank.chunks.size());
    std::vector<MemoryChange> curve = {{Duration(), held}};
    for (size_t first = 0; first < order.size();) {
      const size_t end = EndOfPass(schedule_, order, first);
      const Tag& tag = schedule_.tag(order[first]);
      if (IsPass(tag.phase)) {
        const ChunkPass& pass = (*rank.chunks[tag.chunk])[tag.phase];
        const bool makes_gradients = makers.Makes(tag.chunk, tag.phase);
        const PassSummary& summary = makes_gradients ? pass.summary : pass.later;
        const Duration start = timeline_.start(order[first]);
        const Duration over = timeline_.end(order[end - 1]);
        for (const OperatorPeak& peak : PeaksOf(pass, makes_gradients)) {
          curve.push_back({Between(start, over, peak.at), held + Bytes(peak.most)});
        }
        held += Bytes(summary.net);
        gradients += Bytes(summary.net_gradient);
        curve.push_back({over, held});
      } else if (tag.phase == Phase::kOptimizer) {
        const Bytes most(rank.update.summary.peak);
        if (most > Bytes()) curve.push_back({timeline_.start(order[first]), held + most});
        held = held - gradients;
        if (most + gradients > Bytes()) curve.push_back({timeline_.end(order[end - 1]), held});
        gradients = Bytes();
      }
      first = end;
    }
    return curve;
  }

 private:
  // The peaks are computed once for all passes that are alike.
  const std::vector<OperatorPeak>& PeaksOf(const ChunkPass& pass, bool makes_gradients) {
    const PassSummary& summary = makes_gradients ? pass.summary : pass.later;
    const auto [entry, is_new] = peaks_.try_emplace(&summary);
    if (!is_new) return entry->second;
    if (detail_ == CurveDetail::kOperators) {
      entry->second = OperatorPeaks(pass.tensors, makes_gradients);
    } else if (summary.peak > summary.net) {
      entry->second = {{summary.peak_at, summary.peak}};
    }
    return entry->second;
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const CurveDetail detail_;
  std::unordered_map<const PassSummary*, std::vector<OperatorPeak>> peaks_;  // looked up only
};

}  // namespace

std::vector<std::vector<MemoryChange>> MemoryOverTime(
    const Plan& plan, const Workload& workload, const Cluster& cluster, const Schedule& schedule,
    const Timeline& timeline, const FrameworkMemory& framework, CurveDetail detail) {
  std::vector<std::vector<MemoryChange>> curves(schedule.ranks().size());
  RankTensorsMaker maker(workload, cluster, framework);
  CurveMaker curve(schedule, timeline, detail);
  RankTensors tensors;
  RankInfo of;  // the rank whose tensors `tensors` are
  std::vector<std::vector<TaskId>> copies(schedule.ranks().size());
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kHostOut && info.kind != LaneKind::kHostIn) continue;
    const auto order = schedule.order(Lane(lane));
    copies[info.rank].insert(copies[info.rank].end(), order.begin(), order.end());
  }
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute) continue;
    const RankInfo& rank = schedule.ranks()[info.rank];
    if (rank.stage != of.stage || rank.replica != of.replica) {
      tensors = maker.Make(plan, rank.stage, rank.replica);
      of = rank;
    }
    curves[info.rank] = curve.Make(tensors, schedule.order(Lane(lane)));
    if (copies[info.rank].empty()) continue;
    curves[info.rank] =
        WithChanges(curves[info.rank], CopyChanges(schedule, timeline, tensors, copies[info.rank]));
  }
  return curves;
}

}  // namespace stagecraft
