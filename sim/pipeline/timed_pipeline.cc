#include "sim/pipeline/timed_pipeline.h"

#include <algorithm>
#include <utility>

#include "sim/pipeline/pass_tasks.h"

namespace stagecraft {
namespace {

// A block of one op for each phase at each place, and for each transfer.
class TimedCosts : public PassCosts {
 public:
  TimedCosts(const ChunkMap& map, const PipelineCosts& costs, Schedule::Builder& builder)
      : map_(map), costs_(costs) {
    op_ = builder.AddOp(Op());
    for (const std::vector<PassTimes>& stage : costs.times) {
      for (const PassTimes& times : stage) {
        for (const Duration time :
             {times.forward, times.Backward(), times.backward_input, times.backward_weight}) {
          AddOpSequence(time, builder);
        }
      }
    }
    first_transfer_ = static_cast<OpSequenceId>(op_sequences_.size());
    for (const Duration time : costs.transfers) AddOpSequence(time, builder);
  }

  std::span<const OpSequenceId> Parts(int stage, const Pass& pass, bool /*paired*/) override {
    const int place = stage * map_.chunks() + pass.chunk;
    return {&op_sequences_[4 * place + static_cast<int>(pass.phase)], 1};
  }
  OpSequenceId Transfer(int from, int to, const Pass& /*pass*/, int /*device*/) override {
    if (costs_.Transfer(from, to) == Duration()) return -1;
    const bool wraps = from - to != 1 && to - from != 1;
    const int link = wraps ? static_cast<int>(costs_.transfers.size()) - 1 : std::min(from, to);
    return first_transfer_ + link;
  }
  Duration DurationOf(OpSequenceId op_sequence) const { return durations_[op_sequence]; }

 private:
  void AddOpSequence(Duration time, Schedule::Builder& builder) {
    op_sequences_.push_back(builder.AddOpSequence({&op_, 1}));
    durations_.push_back(time);
  }

  const ChunkMap& map_;
  const PipelineCosts& costs_;
  OpId op_ = 0;
  OpSequenceId first_transfer_ = 0;
  std::vector<OpSequenceId> op_sequences_;
  std::vector<Duration> durations_;  // by block
};

}  // namespace

TimedSchedule BuildPipeline(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches, const PipelineCosts& costs) {
  Schedule::Builder builder;
  TimedCosts op_sequences(map, costs, builder);
  std::vector<PipelineWorker> workers;
  for (const PassOrder& order : orders) {
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
  const std::vector<MicroBatchShares> shares(workers.size(), {micro_batches, 1});
  PassTasks(workers, shares, map, op_sequences, builder);
  TimedSchedule timed{builder.Build(), {}};
  timed.durations.reserve(timed.schedule.task_count());
  for (TaskId task = 0; task < timed.schedule.task_count(); ++task) {
    timed.durations.push_back(op_sequences.DurationOf(timed.schedule.op_sequence(task)));
  }
  return timed;
}

TimedSchedule BuildUniformPipeline(const UniformPipeline& pipeline) {
  const int stages = static_cast<int>(pipeline.orders.size());
  return BuildPipeline(
      ChunkMap::Looped(stages, pipeline.chunks), pipeline.orders, pipeline.micro_batches,
      UniformCosts(stages, pipeline.chunks, {pipeline.forward, pipeline.backward, Duration()},
                   pipeline.transfer));
}

}  // namespace stagecraft
