#include "sim/lowering/asynchronous_lowering.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "costmodel/check.h"
#include "sim/lowering/data_collectives.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/tied_lowering.h"

namespace stagecraft {
namespace {

const Pass& CompletingPass(const LoweredWorker& worker, size_t update) {
  return worker.order[worker.updates[update].complete];
}

class StageUpdates {
 public:
  StageUpdates(LoweringContext& context, const LoweredPasses& passes, int stage)
      : context_(context),
        passes_(passes),
        stage_(stage),
        groups_(FindDataGroups(context, passes, stage)),
        workers_(passes.WorkersOf(stage)) {
    for (const size_t w : workers_) CHECK(Worker(w).updates.size() == count());
  }

  size_t count() const { return Worker(workers_[0]).updates.size(); }

  // Adds what precedes and follows an update on all replicas.
  void Add(size_t update) {
    if (update >= count() || context_.rules.DataRanks(stage_) == 1) return;
    if (context_.rules.OverlapsReduction(stage_)) {
      const auto buckets = context_.buckets.Of(stage_, 0);
      for (size_t b = 0; b < buckets.size(); ++b) {
        AddReduction(update, static_cast<int>(b), buckets[b].trained);
      }
    } else {
      AddReduction(update, -1, context_.buckets.TrainedParameters(stage_));
    }
    if (context_.plan.zero > 0) AddGather(update);
  }

 private:
  const LoweredWorker& Worker(size_t w) const { return passes_.workers()[w]; }
  void AddDependency(TaskId before, TaskId after) { context_.builder.AddDependency(before, after); }

  Tag MakeTag(const DataGroup& group, Phase phase, size_t update, int segment) const {
    Tag tag;
    tag.rank = group.rank;
    tag.stage = static_cast<int16_t>(stage_);
    tag.chunk = 0;
    tag.micro_batch = CompletingPass(Worker(workers_[0]), update).micro_batch;
    tag.phase = phase;
    tag.segment = static_cast<uint8_t>(std::clamp(segment, 0, 255));
    return tag;
  }

  // Reduces a bucket beside the backward that completes its gradients; -1: reduces all buckets
  // after it.
  void AddReduction(size_t update, int bucket, const ParameterCount& parameters) {
    std::vector<TaskId> after;
    for (const size_t w : workers_) {
      const Pass pass = CompletingPass(Worker(w), update);
      after.push_back(bucket < 0 ? passes_.Last(w, pass) : passes_.First(w, pass) + bucket);
    }
    for (const DataGroup& group : groups_) {
      const Tag tag = MakeTag(group, Phase::kGradReduce, update, bucket);
      const TaskId reduction = DataCollectives(context_, group).Reduce(parameters, tag, after);
      for (const size_t w : workers_) AddDependency(reduction, passes_.Update(w, update));
    }
  }

  // Gathers parameters before the next pass of every replica.
  void AddGather(size_t update) {
    std::vector<TaskId> after;
    for (const size_t w : workers_) after.push_back(passes_.Update(w, update));
    for (const DataGroup& group : groups_) {
      const Tag tag = MakeTag(group, Phase::kParamGather, update, 0);
      const TaskId gather = DataCollectives(context_, group)
                                .Gather(context_.buckets.TrainedParameters(stage_), tag, after);
      for (const size_t w : workers_) {
        const LoweredWorker& worker = Worker(w);
        const size_t next = static_cast<size_t>(worker.updates[update].behind) + 1;
        if (next == worker.order.size()) continue;
        AddDependency(gather, passes_.First(w, worker.order[next]));
      }
    }
  }

  LoweringContext& context_;
  const LoweredPasses& passes_;
  const int stage_;
  const std::vector<DataGroup> groups_;
  const std::vector<size_t> workers_;
};

// Reduces the gradients of a tied tensor, after the reductions of the replicas.
void AddTiedUpdate(LoweringContext& context, const LoweredPasses& passes, const TiedStages& tied,
                   size_t update) {
  for (size_t i = 0; i < context.folding().instances.size(); ++i) {
    const std::vector<size_t> members = TiedWorkers(tied.trained, static_cast<int>(i), passes);
    std::vector<TaskId> after;
    for (const size_t w : members) {
      after.push_back(passes.Last(w, CompletingPass(passes.workers()[w], update)));
    }
    for (const TaskId reduction : AddTiedReduction(context, passes, tied, members, after)) {
      for (const size_t w : members) {
        context.builder.AddDependency(reduction, passes.Update(w, update));
      }
    }
  }
}

}  // namespace

void AddAsynchronousUpdates(LoweringContext& context, const LoweredPasses& passes) {
  const std::optional<TiedStages> tied = FindTiedStages(context.plan, context.workload);
  std::vector<StageUpdates> stages;
  size_t most = 0;
  for (int stage = 0; stage < context.stages(); ++stage) {
    stages.emplace_back(context, passes, stage);
    most = std::max(most, stages.back().count());
  }
  for (size_t update = 0; update < most; ++update) {
    for (StageUpdates& stage : stages) stage.Add(update);
    const auto updates = [&](int stage) { return update < stages[stage].count(); };
    if (tied && std::all_of(tied->stages.begin(), tied->stages.end(), updates)) {
      AddTiedUpdate(context, passes, *tied, update);
    }
  }
}

}  // namespace stagecraft
