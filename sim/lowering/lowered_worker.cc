#include "sim/lowering/lowered_worker.h"

#include <algorithm>
#include <utility>

#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
namespace {

// Finds the passes beside which overlapped gathers and reductions run.
void FindEdgePasses(int chunks, LoweredWorker& worker) {
  worker.first_forward.assign(chunks, Pass{Phase::kForward, 0, -1});
  worker.last_backward.assign(chunks, Pass{Phase::kBackward, 0, -1});
  for (const Pass& pass : worker.order) {
    if (MakesWeightGradients(pass.phase)) {
      worker.last_backward[pass.chunk] = pass;
    } else if (pass.phase == Phase::kForward && worker.first_forward[pass.chunk].micro_batch < 0) {
      worker.first_forward[pass.chunk] = pass;
    }
  }
}

// Adds one rank for every device, or one that stands for all of them; each also stands for those of
// the `multiplicity` pipelines that are folded into this one.
void AddRanks(LoweringContext& context, int multiplicity, bool hides_exchanges,
              LoweredWorker& worker) {
  Schedule::Builder& builder = context.builder;
  const std::vector<int>& devices = context.plan.stages[worker.stage].replicas[worker.replica];
  const bool unfolds = context.folding().unfold_ranks;
  const int stands_for = multiplicity * (unfolds ? 1 : static_cast<int>(devices.size()));
  const std::vector<int> simulated =
      unfolds ? devices : std::vector<int>{SlowestDevice(context.cluster, devices)};
  for (const int device : simulated) {
    const int32_t rank =
        builder.AddRank({device, static_cast<int16_t>(worker.stage), worker.replica, stands_for});
    worker.ranks.push_back(rank);
    worker.compute.push_back(builder.AddLane({rank, LaneKind::kCompute}));
    if (context.stages() > 1) {
      worker.send_next.push_back(builder.AddLane({rank, LaneKind::kSendNext}));
      worker.send_previous.push_back(builder.AddLane({rank, LaneKind::kSendPrevious}));
    }
    worker.data.push_back(builder.AddLane({rank, LaneKind::kData}));
    if (hides_exchanges) worker.exchange.push_back(builder.AddLane({rank, LaneKind::kExpert}));
  }
}

// Returns whether passes of a stage that run beside each other exchange rows between experts
// meanwhile.
bool HidesExchanges(const Plan& plan, int stage, const PassOrder& order) {
  return plan.framework.hides_exchanges && plan.stages[stage].expert_parallel > 1 &&
         std::any_of(order.begin(), order.end(), [](const Pass& pass) { return pass.beside_next; });
}

}  // namespace

bool LoweredWorker::CompletesUpdate(const Pass& pass) const {
  const auto first =
      std::partition_point(updates.begin(), updates.end(), [&](const WeightUpdate& update) {
        return order[update.complete].micro_batch < pass.micro_batch;
      });
  return first != updates.end() && order[first->complete] == pass;
}

LoweredWorker AddWorker(LoweringContext& context, int instance, int stage, int position,
                        PassOrder order) {
  const Plan& plan = context.plan;
  const PipelineInstance& pipeline = context.folding().instances[instance];
  LoweredWorker worker;
  worker.instance = instance;
  worker.stage = stage;
  worker.replica = pipeline.replicas[stage][position];
  worker.shard =
      context.op_sequences.InternShard(context.placed.Shard(plan, stage, worker.replica));
  AddRanks(context, pipeline.multiplicity, HidesExchanges(plan, stage, order), worker);
  if (context.updates && IsAsynchronous(plan.schedule)) {
    worker.updates = EndlessOrderOf(plan, context.workload, stage, worker.replica).updates;
  }
  worker.order = std::move(order);
  FindEdgePasses(plan.pass_chunk_count(), worker);
  return worker;
}

PipelineWorker ToPipelineWorker(const LoweredWorker& worker, int position, bool sends_block) {
  return {.stage = worker.stage,
          .replica = position,
          .rank = worker.ranks[0],
          .order = worker.order,
          .updates = worker.updates,
          .compute = worker.compute,
          .send_next = worker.send_next,
          .send_previous = worker.send_previous,
          .exchange = worker.exchange,
          .sends_block = sends_block};
}

}  // namespace stagecraft
