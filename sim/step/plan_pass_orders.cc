#include "sim/step/plan_pass_orders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "costmodel/check.h"
#include "sim/engine/bound_costs.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/rank_tensors.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// The least number of replicas that contain whole groups of experts: groups are consecutive
// data-parallel ranks, of which each replica has `context_parallel`. Divides the number in the
// plan.
size_t ReplicasOfExpertGroups(const Plan& plan) {
  int64_t replicas = 1;
  for (const Stage& stage : plan.stages) {
    const int shared = std::gcd(stage.expert_parallel, stage.context_parallel);
    replicas = std::lcm(replicas, int64_t{stage.expert_parallel / shared});
  }
  return static_cast<size_t>(replicas);
}

// The plan with one micro-batch for each chain and every kind of pass of it, in whatever order:
// only their costs are looked up. It keeps the first replicas, as many as its groups of experts
// need.
Plan ProbeOf(const Plan& plan) {
  Plan probe = plan;
  const ChunkMap map = MapOf(plan);
  PassOrder order;
  for (int chunk = 0; chunk < map.chunks(); ++chunk) {
    for (const Phase phase : {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}) {
      if (plan.forward_only && phase != Phase::kForward) continue;
      order.push_back({phase, static_cast<int16_t>(chunk), 0});
    }
  }
  probe.placement = PlacementOf(plan);
  probe.schedule = PipelineSchedule::kCustom;
  probe.orders.assign(map.stages(), order);
  const size_t replicas = ReplicasOfExpertGroups(plan);
  for (Stage& stage : probe.stages) {
    CHECK(replicas <= stage.replicas.size());
    stage.replicas.resize(replicas);
    stage.replica_micro_batches.clear();
  }
  probe.global_batch = static_cast<int64_t>(replicas) * probe.micro_batch * map.chains();
  probe.zero = 0;
  probe.zero_group = 0;
  probe.gradient_sync = {};
  return probe;
}

Duration& TimeOf(Phase phase, PassTimes& times) {
  if (phase == Phase::kForward) return times.forward;
  return phase == Phase::kBackwardInput ? times.backward_input : times.backward_weight;
}

// Pipeline schedules are made by adding up the time of every micro-batch, so the sum must fit.
void CheckSum(const Plan& plan, const PipelineCosts& costs, const Cluster& cluster) {
  Duration sum;
  for (const std::vector<PassTimes>& chunks : costs.times) {
    for (const PassTimes& times : chunks) {
      sum += times.forward + times.backward_input + times.backward_weight;
    }
  }
  for (const Duration transfer : costs.transfers) sum += 2 * MapOf(plan).chunks() * transfer;
  CheckStepTime(plan.micro_batches() * sum, cluster);
}

// Of the links that a message crosses, the slowest counts.
void NoteTransfer(const Tag& tag, const ChunkMap& map, Duration time, PipelineCosts& costs) {
  const bool onward = (tag.phase == Phase::kSendForward) != map.RunsBack(tag.chunk);
  const size_t link = onward ? tag.stage : (tag.stage + map.stages() - 1) % map.stages();
  costs.transfers[link] = std::max(costs.transfers[link], time);
}

PassMemory MemoryOf(const ChunkTensors& chunk) {
  PassMemory memory;
  memory.after_forward = chunk[Phase::kForward].summary.net;
  memory.after_input = memory.after_forward + chunk[Phase::kBackwardInput].summary.net;
  memory.after_input = std::clamp<int64_t>(memory.after_input, 0, memory.after_forward);
  return memory;
}

}  // namespace

PassOrderInputs MeasurePasses(const Plan& plan, const Workload& workload, const Cluster& cluster,
                              const CostModel& model, const FrameworkMemory& framework) {
  const Plan probe = ProbeOf(plan);
  const ChunkMap map = MapOf(probe);
  const Schedule schedule =
      Lower(probe, workload, cluster, {.unfold = false, .with_optimizer = false});
  const BoundCosts bound = BindCosts(schedule, cluster, model);
  PassOrderInputs inputs;
  inputs.costs = UniformCosts(map.stages(), map.chunks(), {}, Duration());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (schedule.ranks()[tag.rank].replica != 0) continue;
    const Duration time = bound.TaskTimes(schedule, task).device;
    if (IsPass(tag.phase)) {
      Duration& sum = TimeOf(tag.phase, inputs.costs.times[tag.stage][tag.chunk]);
      sum = std::max(sum, time);
    } else if (tag.phase == Phase::kSendForward || tag.phase == Phase::kSendBackward) {
      NoteTransfer(tag, map, time, inputs.costs);
    }
  }
  CheckSum(plan, inputs.costs, cluster);
  RankTensorsMaker maker(workload, cluster, framework);
  for (int stage = 0; stage < map.stages(); ++stage) {
    inputs.memory.emplace_back();
    for (const auto& chunk : maker.Make(plan, stage, 0).chunks) {
      inputs.memory.back().push_back(MemoryOf(*chunk));
    }
  }
  return inputs;
}

Plan WithPassOrders(Plan plan, const Workload& workload, const Cluster& cluster,
                    const CostModel& model, const FrameworkMemory& framework) {
  if (!NeedsCosts(plan.schedule) || !plan.orders.empty()) return plan;
  const PassOrderInputs inputs = MeasurePasses(plan, workload, cluster, model, framework);
  plan.orders = MakePipelineSchedules(plan, 0, &inputs);
  return plan;
}

}  // namespace stagecraft
