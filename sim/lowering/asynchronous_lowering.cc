#include "sim/lowering/asynchronous_lowering.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "costmodel/check.h"
#include "sim/lowering/data_groups.h"
#include "sim/lowering/sharded_lowering.h"
#include "sim/lowering/tied_lowering.h"

namespace stagecraft {
namespace {

const Pass& CompletingPass(const LoweredWorker& worker, size_t update) {
  return worker.order[worker.updates[update].complete];
}

class StageUpdates {
 public:
  StageUpdates(const Plan& plan, const Cluster& cluster, int stage, LoweredPasses& passes,
               Schedule::Builder& builder)
      : plan_(plan),
        stage_(stage),
        passes_(passes),
        builder_(builder),
        groups_(FindDataGroups(plan, cluster, passes, stage, builder)) {
    for (size_t w = 0; w < passes.workers().size(); ++w) {
      if (passes.workers()[w].stage == stage) workers_.push_back(w);
    }
    for (const size_t w : workers_) CHECK(Worker(w).updates.size() == count());
  }

  size_t count() const { return Worker(workers_[0]).updates.size(); }

  // What comes before and after an update on every replica.
  void Add(size_t update) {
    if (update >= count() || passes_.DataRanks(stage_) == 1) return;
    if (passes_.OverlapsReduction(stage_)) {
      const auto buckets = passes_.buckets(stage_, 0);
      for (size_t b = 0; b < buckets.size(); ++b) {
        AddReduction(update, static_cast<int>(b), buckets[b].parameters);
      }
    } else {
      AddReduction(update, -1, passes_.StageParameters(stage_));
    }
    if (plan_.zero > 0) AddGather(update);
  }

 private:
  const LoweredWorker& Worker(size_t w) const { return passes_.workers()[w]; }

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

  // Of a bucket beside the backward that completes its gradients; -1: of all behind it.
  void AddReduction(size_t update, int bucket, const ParameterCount& parameters) {
    std::vector<TaskId> after;
    for (const size_t w : workers_) {
      const Pass pass = CompletingPass(Worker(w), update);
      after.push_back(bucket < 0 ? passes_.Last(w, pass) : passes_.First(w, pass) + bucket);
    }
    for (const DataGroup& group : groups_) {
      const Tag tag = MakeTag(group, Phase::kGradReduce, update, bucket);
      const TaskId reduction =
          AddGradientReduction(plan_, parameters, group, tag, after, passes_, builder_);
      for (const size_t w : workers_) builder_.AddDependency(reduction, passes_.Update(w, update));
    }
  }

  // Before the next pass of every replica.
  void AddGather(size_t update) {
    std::vector<TaskId> after;
    for (const size_t w : workers_) after.push_back(passes_.Update(w, update));
    for (const DataGroup& group : groups_) {
      const TaskId gather = AddParameterGather(plan_, passes_.StageParameters(stage_), group,
                                               MakeTag(group, Phase::kParamGather, update, 0),
                                               after, passes_, builder_);
      for (const size_t w : workers_) {
        const LoweredWorker& worker = Worker(w);
        const size_t next = static_cast<size_t>(worker.updates[update].behind) + 1;
        if (next == worker.order.size()) continue;
        builder_.AddDependency(gather, passes_.First(w, worker.order[next]));
      }
    }
  }

  const Plan& plan_;
  const int stage_;
  LoweredPasses& passes_;
  Schedule::Builder& builder_;
  const std::vector<DataGroup> groups_;
  std::vector<size_t> workers_;
};

// Behind the reductions of the replicas.
void AddTiedUpdate(const Plan& plan, const TiedStages& tied, size_t update, LoweredPasses& passes,
                   Schedule::Builder& builder) {
  for (size_t i = 0; i < passes.folding().instances.size(); ++i) {
    const std::vector<size_t> members = TiedWorkers(tied, static_cast<int>(i), passes);
    std::vector<TaskId> after;
    for (const size_t w : members) {
      after.push_back(passes.Last(w, CompletingPass(passes.workers()[w], update)));
    }
    for (const TaskId reduction : AddTiedReduction(plan, tied, members, after, passes, builder)) {
      for (const size_t w : members) builder.AddDependency(reduction, passes.Update(w, update));
    }
  }
}

}  // namespace

void AddAsynchronousUpdates(const Plan& plan, const Workload& workload, const Cluster& cluster,
                            LoweredPasses& passes, Schedule::Builder& builder) {
  const std::optional<TiedStages> tied = FindTiedStages(plan, workload);
  std::vector<StageUpdates> stages;
  size_t most = 0;
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    stages.emplace_back(plan, cluster, stage, passes, builder);
    most = std::max(most, stages.back().count());
  }
  for (size_t update = 0; update < most; ++update) {
    for (StageUpdates& stage : stages) stage.Add(update);
    if (tied && update < std::min(stages[tied->first].count(), stages[tied->last].count())) {
      AddTiedUpdate(plan, *tied, update, passes, builder);
    }
  }
}

}  // namespace stagecraft
