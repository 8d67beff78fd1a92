#include "sim/lowering/sharded_lowering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/lowering/data_collectives.h"

namespace stagecraft {
namespace {

// One part of a divided pass: the layers of one bucket.
struct Part {
  Pass pass;
  int index = 0;  // within the pass
  ParameterCount parameters, trained;
  std::span<const int64_t> tensors, trained_tensors;  // those of the bucket
};

class ShardedTraffic {
 public:
  ShardedTraffic(LoweringContext& context, const LoweredPasses& passes, int stage,
                 const DataGroup& group)
      : context_(context),
        passes_(passes),
        stage_(stage),
        rank_(group.rank),
        collectives_(context, group),
        workers_(passes.WorkersOf(stage)) {}

  TaskId Run() {
    for (const Part& part : Parts()) {
      const bool is_backward = IsBackward(part.pass.phase);
      const bool needs_weights = part.pass.phase != Phase::kBackwardWeight;
      const bool gathers = context_.rules.GathersEveryPass(stage_) && needs_weights &&
                           (!is_backward || context_.plan.reshard_after_forward);
      // A gather that is issued late queues behind the reduction of the part that is then done.
      const Framework& framework = context_.plan.framework;
      const bool is_late = framework.parameter_gather == ParameterGather::kTensors ||
                           (is_backward && framework.backward_prefetch == BackwardPrefetch::kAfter);
      if (is_late) FlushReduction();
      if (gathers) AddGather(part, is_late ? last_ : before_last_);
      FlushReduction();
      before_last_ = std::exchange(last_, ComputeTasks(part));
      const bool reduces =
          MakesWeightGradients(part.pass.phase) && context_.rules.ReducesEveryPass(stage_);
      if (reduces && part.trained.Total() > 0) pending_ = part;
    }
    FlushReduction();
    return last_reduction_;
  }

 private:
  // The parts of all passes of the stage, in the order in which they compute.
  std::vector<Part> Parts() const {
    std::vector<Part> parts;
    for (const Pass& pass : passes_.workers()[workers_[0]].order) {
      const auto buckets = context_.buckets.Of(stage_, pass.chunk);
      const bool is_forward = pass.phase == Phase::kForward;
      if (!context_.rules.GathersEveryPass(stage_) && !MakesWeightGradients(pass.phase)) continue;
      for (size_t i = 0; i < buckets.size(); ++i) {
        const Bucket& bucket = is_forward ? buckets[buckets.size() - 1 - i] : buckets[i];
        if (!(is_forward ? bucket.has_forward : bucket.has_backward)) continue;
        parts.push_back({pass, static_cast<int>(i), bucket.parameters, bucket.trained,
                         bucket.tensors, bucket.trained_tensors});
      }
    }
    return parts;
  }

  // The tasks of a part on all workers of the stage.
  std::vector<TaskId> ComputeTasks(const Part& part) const {
    std::vector<TaskId> tasks;
    tasks.reserve(workers_.size());
    for (const size_t w : workers_) tasks.push_back(passes_.First(w, part.pass) + part.index);
    return tasks;
  }

  Tag MakeTag(const Part& part, Phase phase) const {
    Tag tag;
    tag.rank = rank_;
    tag.stage = static_cast<int16_t>(stage_);
    tag.chunk = part.pass.chunk;
    tag.micro_batch = part.pass.micro_batch;
    tag.phase = phase;
    tag.segment = static_cast<uint8_t>(std::min(part.index, 255));
    return tag;
  }

  // `after`: the tasks of the last part that must be done; the part before this one, or the one
  // before that, so that the gather runs beside the part before this one.
  void AddGather(const Part& part, std::span<const TaskId> after) {
    const bool by_tensor = context_.plan.framework.parameter_gather == ParameterGather::kTensors;
    if (by_tensor && part.tensors.empty() && part.parameters.expert == 0) return;
    const TaskId gather = collectives_.Gather(part.parameters, MakeTag(part, Phase::kParamGather),
                                              after, part.tensors);
    for (const TaskId task : ComputeTasks(part)) context_.builder.AddDependency(gather, task);
  }

  void FlushReduction() {
    if (!pending_) return;
    last_reduction_ = collectives_.Reduce(pending_->trained, MakeTag(*pending_, Phase::kGradReduce),
                                          last_, pending_->trained_tensors);
    pending_.reset();
  }

  LoweringContext& context_;
  const LoweredPasses& passes_;
  const int stage_;
  const int32_t rank_;  // the group's first
  DataCollectives collectives_;
  const std::vector<size_t> workers_;       // of the stage
  std::vector<TaskId> last_, before_last_;  // the tasks of the last two parts so far
  std::optional<Part> pending_;             // a part that is computed, but not yet reduced
  TaskId last_reduction_ = -1;
};

}  // namespace

std::vector<TaskId> AddShardedTraffic(LoweringContext& context, const LoweredPasses& passes,
                                      int stage, std::span<const DataGroup> groups) {
  std::vector<TaskId> reductions;
  for (const DataGroup& group : groups) {
    const TaskId last = ShardedTraffic(context, passes, stage, group).Run();
    if (last >= 0) reductions.push_back(last);
  }
  return reductions;
}

}  // namespace stagecraft
