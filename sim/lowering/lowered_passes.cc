#include "sim/lowering/lowered_passes.h"

#include <utility>

#include "sim/lowering/pass_op_sequences.h"
#include "sim/lowering/worker_messages.h"
#include "sim/shard/optimizer_op.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// The costs of the passes of one instance's workers.
class InstanceCosts : public PassCosts {
 public:
  InstanceCosts(LoweringContext& context, std::span<const LoweredWorker> workers,
                std::vector<PassOpSequences> op_sequences)
      : context_(context),
        workers_(workers),
        op_sequences_(std::move(op_sequences)),
        messages_(context, workers) {}

  std::span<const OpSequenceId> Parts(int worker, const Pass& pass, bool paired) override {
    return op_sequences_[worker].Parts(workers_[worker], pass, paired);
  }
  OpSequenceId Exchanges(int worker, const Pass& pass) override {
    return op_sequences_[worker].Exchanges(workers_[worker], pass);
  }
  OpSequenceId Transfer(int from, int to, const Pass& pass, int device) override {
    return messages_.OpSequence(from, to, pass, device);
  }
  int32_t Channel(int from, int to, const Pass& pass, int device) override {
    return messages_.Channel(from, to, pass, device);
  }
  OpSequenceId Update(int worker) override {
    const int stage = workers_[worker].stage;
    return context_.op_sequences.SingleOp(OptimizerOp(context_.plan, stage,
                                                      context_.buckets.TrainedParameters(stage),
                                                      context_.rules.DataRanks(stage)));
  }

 private:
  LoweringContext& context_;
  const std::span<const LoweredWorker> workers_;
  const std::vector<PassOpSequences> op_sequences_;  // by worker
  WorkerMessages messages_;
};

}  // namespace

LoweredPasses::LoweredPasses(LoweringContext& context) {
  for (size_t i = 0; i < context.folding().instances.size(); ++i) {
    AddInstance(context, static_cast<int>(i));
  }
}

void LoweredPasses::AddInstance(LoweringContext& context, int index) {
  const Plan& plan = context.plan;
  const PipelineInstance& instance = context.folding().instances[index];
  instance_begin_.push_back(workers_.size());
  std::vector<PassOpSequences> op_sequences;
  op_sequences.reserve(static_cast<size_t>(context.stages()));
  std::vector<PipelineWorker> pipeline;
  std::vector<MicroBatchShares> shares;
  const bool is_separate = HasSeparatePipelines(plan);
  PassOrders orders;
  if (is_separate) orders = PassOrdersOf(plan, instance.replicas[0][0]);
  for (int stage = 0; stage < context.stages(); ++stage) {
    shares.push_back(
        is_separate
            ? MicroBatchShares(ReplicaMicroBatches(plan, stage, instance.replicas[stage][0]), 1)
            : StageShares(plan, stage));
    for (size_t r = 0; r < instance.replicas[stage].size(); ++r) {
      const int position = static_cast<int>(r);
      PassOrder order = is_separate ? std::move(orders[stage])
                                    : StageOrder(plan, stage, instance.replicas[stage][r]);
      workers_.push_back(AddWorker(context, index, stage, position, std::move(order)));
      const LoweredWorker& worker = workers_.back();
      compute_lanes_.insert(compute_lanes_.end(), worker.compute.begin(), worker.compute.end());
      op_sequences.emplace_back(context, worker);
      pipeline.push_back(ToPipelineWorker(worker, position, !plan.overlap_p2p));
    }
  }
  const auto own = std::span<const LoweredWorker>(workers_).subspan(instance_begin_.back());
  InstanceCosts costs(context, own, std::move(op_sequences));
  tasks_.emplace_back(pipeline, shares, MapOf(plan), costs, context.builder);
}

std::vector<size_t> LoweredPasses::WorkersOf(int stage) const {
  std::vector<size_t> of_stage;
  for (size_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].stage == stage) of_stage.push_back(w);
  }
  return of_stage;
}

int LoweredPasses::IndexInInstance(size_t worker) const {
  return static_cast<int>(worker - instance_begin_[workers_[worker].instance]);
}

TaskId LoweredPasses::First(size_t worker, const Pass& pass) const {
  return tasks_[workers_[worker].instance].First(IndexInInstance(worker), pass);
}

TaskId LoweredPasses::Last(size_t worker, const Pass& pass) const {
  return tasks_[workers_[worker].instance].Last(IndexInInstance(worker), pass);
}

TaskId LoweredPasses::Update(size_t worker, size_t index) const {
  return tasks_[workers_[worker].instance].Update(IndexInInstance(worker), index);
}

}  // namespace stagecraft
