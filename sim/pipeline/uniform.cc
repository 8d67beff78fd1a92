#include "sim/pipeline/uniform.h"

#include "sim/pipeline/pass_tasks.h"

namespace stagecraft {
namespace {

// Block 0 is a forward, 1 a backward, 2 a transfer.
class UniformCosts : public PassCosts {
 public:
  explicit UniformCosts(bool has_transfers) : has_transfers_(has_transfers) {}
  std::span<const BlockId> Parts(int, const Pass& pass) const override {
    return {&kBlocks[pass.phase == Phase::kForward ? 0 : 1], 1};
  }
  BlockId Transfer(int from, int to, const Pass&) const override {
    return has_transfers_ && from != to ? kBlocks[2] : -1;
  }

 private:
  static constexpr BlockId kBlocks[] = {0, 1, 2};
  bool has_transfers_;
};

}  // namespace

TimedSchedule BuildUniformPipeline(const UniformPipeline& pipeline) {
  Schedule::Builder builder;
  for (int block = 0; block < 3; ++block) {
    const OpId op = builder.AddOp(Op());
    builder.AddBlock({&op, 1});
  }
  std::vector<PipelineWorker> workers;
  for (const PassOrder& order : pipeline.orders) {
    PipelineWorker worker;
    worker.stage = static_cast<int>(workers.size());
    RankInfo rank;
    rank.stage = static_cast<int16_t>(worker.stage);
    worker.rank = builder.AddRank(rank);
    worker.order = order;
    worker.compute = {builder.AddLane({worker.rank, LaneKind::kCompute})};
    worker.send_next = {builder.AddLane({worker.rank, LaneKind::kSendNext})};
    worker.send_previous = {builder.AddLane({worker.rank, LaneKind::kSendPrevious})};
    workers.push_back(std::move(worker));
  }
  const UniformCosts costs(pipeline.transfer > Duration());
  const std::vector<MicroBatchShares> shares(workers.size(), {pipeline.micro_batches, 1});
  PassTasks(workers, shares, pipeline.chunks, costs, builder);
  TimedSchedule timed{builder.Build(), {}};
  const Duration by_block[] = {pipeline.forward, pipeline.backward, pipeline.transfer};
  timed.durations.reserve(timed.schedule.task_count());
  for (TaskId task = 0; task < timed.schedule.task_count(); ++task) {
    timed.durations.push_back(by_block[timed.schedule.block(task)]);
  }
  return timed;
}

}  // namespace stagecraft
