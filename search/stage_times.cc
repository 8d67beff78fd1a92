#include "search/stage_times.h"

#include <algorithm>
#include <set>

#include "sim/pipeline/chunk_map.h"
#include "sim/plan/layer_split.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

StageTime MeasureLane(const SimulatedStep& step, Lane lane) {
  StageTime time;
  std::set<int32_t> micro_batches;
  for (const TaskId task : step.schedule.order(lane)) {
    const Tag& tag = step.schedule.tag(task);
    if (!IsPass(tag.phase)) continue;
    const Duration length = step.timeline.end(task) - step.timeline.start(task);
    (tag.phase == Phase::kForward ? time.forward : time.backward) += length;
    micro_batches.insert(tag.micro_batch);
  }
  time.busy = time.forward + time.backward;
  const auto count = static_cast<int64_t>(std::max<size_t>(1, micro_batches.size()));
  time.forward = Duration::Nanoseconds(time.forward.ns() / count);
  time.backward = Duration::Nanoseconds(time.backward.ns() / count);
  return time;
}

// Returns the plan with these numbers of layers in the parts of its chains; no value if that
// changes nothing or if the plan cannot be lowered.
std::optional<Plan> WithParts(const Plan& plan, const std::vector<int>& layers,
                              const Workload& workload, const Cluster& cluster) {
  for (const Stage& stage : plan.stages) {
    if (!stage.recomputed.empty()) return std::nullopt;  // its layers are named
  }
  Plan other = plan;
  PlaceLayers(layers, MapOf(plan), other);
  const auto same_chunks = [](const Stage& a, const Stage& b) { return a.chunks == b.chunks; };
  const bool is_same = std::equal(plan.stages.begin(), plan.stages.end(), other.stages.begin(),
                                  other.stages.end(), same_chunks);
  if (is_same || !FindErrors(other, workload, cluster).empty()) return std::nullopt;
  return other;
}

PlanDegrees DegreesOf(const Plan& plan) {
  PlanDegrees degrees;
  static_cast<StepOptions&>(degrees) = plan;
  degrees.pipeline = static_cast<int>(plan.stages.size());
  degrees.chunks = plan.chunk_count();
  return degrees;
}

}  // namespace

std::vector<StageTime> MeasureStages(const SimulatedStep& step, const Workload& workload) {
  std::vector<StageTime> stages(step.plan.stages.size());
  for (int lane = 0; lane < step.schedule.lane_count(); ++lane) {
    const LaneInfo& info = step.schedule.lane_infos()[lane];
    if (info.kind != LaneKind::kCompute) continue;
    const StageTime time = MeasureLane(step, Lane(lane));
    StageTime& longest = stages[step.schedule.ranks()[info.rank].stage];
    if (time.busy > longest.busy) longest = time;
  }
  for (size_t s = 0; s < stages.size(); ++s) {
    stages[s].blocks = InnerLayers(step.plan.stages[s], workload);
  }
  return stages;
}

double Imbalance(const std::vector<StageTime>& stages) {
  double longest = 0, sum = 0;
  for (const StageTime& stage : stages) {
    longest = std::max(longest, stage.busy.seconds());
    sum += stage.busy.seconds();
  }
  return sum > 0 ? longest * static_cast<double>(stages.size()) / sum : 1;
}

std::optional<Plan> SplitEvenly(const Plan& plan, const Workload& workload,
                                const Cluster& cluster) {
  return WithParts(plan, PartLayers(DegreesOf(plan), workload), workload, cluster);
}

std::optional<Plan> SplitForHead(const Plan& plan, const Workload& workload,
                                 const Cluster& cluster) {
  PlanDegrees degrees = DegreesOf(plan);
  const int blocks = workload.layer_count() - 2;
  if (degrees.pipeline < 2 || degrees.chunks > 1 || blocks < degrees.pipeline) return std::nullopt;
  degrees.balance_head = true;
  return WithParts(plan, PartLayers(degrees, workload), workload, cluster);
}

}  // namespace stagecraft
