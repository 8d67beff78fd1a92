#include "sim/memory/memory_curve.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/memory/rank_tensors.h"

namespace stagecraft {
namespace {

// The parts of a pass follow each other on its lane.
size_t EndOfPass(const Schedule& schedule, std::span<const TaskId> order, size_t first) {
  size_t end = first + 1;
  while (end < order.size() && schedule.tag(order[end]).segment > 0) ++end;
  return end;
}

Duration Between(Duration start, Duration end, double share) {
  return start + Duration::Seconds((end - start).seconds() * share);
}

std::vector<MemoryChange> RankCurve(const RankTensors& rank, Bytes at_rest,
                                    const Schedule& schedule, const Timeline& timeline,
                                    std::span<const TaskId> order) {
  std::vector<MemoryChange> curve = {{Duration(), at_rest}};
  Bytes held = at_rest;
  for (size_t first = 0; first < order.size();) {
    const size_t end = EndOfPass(schedule, order, first);
    const Tag& tag = schedule.tag(order[first]);
    if (IsPass(tag.phase)) {
      const PassSummary& pass = (*rank.chunks[tag.chunk])[tag.phase].summary;
      const Duration over = timeline.end(order[end - 1]);
      if (pass.peak > pass.net) {
        curve.push_back(
            {Between(timeline.start(order[first]), over, pass.peak_at), held + Bytes(pass.peak)});
      }
      held += Bytes(pass.net);
      curve.push_back({over, held});
    }
    first = end;
  }
  return curve;
}

}  // namespace

std::vector<std::vector<MemoryChange>> MemoryOverTime(const Plan& plan, const Workload& workload,
                                                      const Cluster& cluster,
                                                      const Schedule& schedule,
                                                      const Timeline& timeline,
                                                      const FrameworkMemory& framework) {
  std::vector<std::vector<MemoryChange>> curves(schedule.ranks().size());
  RankTensorsMaker maker(plan, workload, cluster, framework);
  RankTensors tensors;
  RankInfo of;  // what `tensors` are of
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    const LaneInfo& info = schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute) continue;
    const RankInfo& rank = schedule.ranks()[info.rank];
    if (rank.stage != of.stage || rank.replica != of.replica) {
      tensors = maker.Make(rank.stage, rank.replica);
      of = rank;
    }
    const Bytes at_rest = tensors.Static() + tensors.nccl + ContextMemory();
    curves[info.rank] = RankCurve(tensors, at_rest, schedule, timeline, schedule.order(Lane(lane)));
  }
  return curves;
}

}  // namespace stagecraft
