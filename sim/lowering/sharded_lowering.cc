#include "sim/lowering/sharded_lowering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/lowering/data_collectives.h"

namespace stagecraft {
namespace {

// One part of a divided pass: the layers of one bucket.
struct Part {
  const Pass* pass = nullptr;
  int index = 0;  // within the pass
  const Bucket* bucket = nullptr;
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
      const Phase phase = part.pass->phase;
      const bool is_backward = IsBackward(phase);
      const bool needs_weights = phase != Phase::kBackwardWeight;
      const bool gathers = context_.rules.GathersEveryPass(stage_) && needs_weights &&
                           (!is_backward || context_.plan.reshard_after_forward);
      // A gather that is issued late queues behind the reduction of the part that is then done.
      const Framework& framework = context_.plan.framework;
      const bool is_late = framework.parameter_gather == ParameterGather::kTensors ||
                           (is_backward && framework.backward_prefetch == BackwardPrefetch::kAfter);
      FindTasks(part);
      if (is_late) FlushReduction();
      if (gathers) AddGather(part, is_late ? last_ : before_last_);
      FlushReduction();
      before_last_.swap(last_);
      last_.swap(tasks_);
      const bool reduces = MakesWeightGradients(phase) && context_.rules.ReducesEveryPass(stage_);
      if (reduces && part.bucket->trained.Total() > 0) pending_ = part;
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
        parts.push_back({&pass, static_cast<int>(i), &bucket});
      }
    }
    return parts;
  }

  // Finds the tasks of a part on all workers of the stage.
  void FindTasks(const Part& part) {
    tasks_.clear();
    for (const size_t w : workers_) tasks_.push_back(passes_.First(w, *part.pass) + part.index);
  }

  Tag MakeTag(const Part& part, Phase phase) const {
    Tag tag;
    tag.rank = rank_;
    tag.stage = static_cast<int16_t>(stage_);
    tag.chunk = part.pass->chunk;
    tag.micro_batch = part.pass->micro_batch;
    tag.phase = phase;
    tag.segment = static_cast<uint8_t>(std::min(part.index, 255));
    return tag;
  }

  // `after`: the tasks of the last part that must be done; the part before this one, or the one
  // before that, so that the gather runs beside the part before this one.
  void AddGather(const Part& part, std::span<const TaskId> after) {
    const Bucket& bucket = *part.bucket;
    const bool by_tensor = context_.plan.framework.parameter_gather == ParameterGather::kTensors;
    if (by_tensor && bucket.tensors.empty() && bucket.parameters.expert == 0) return;
    const TaskId gather = collectives_.Gather(bucket.parameters, MakeTag(part, Phase::kParamGather),
                                              after, bucket.tensors);
    for (const TaskId task : tasks_) context_.builder.AddDependency(gather, task);
  }

  void FlushReduction() {
    if (!pending_) return;
    const Bucket& bucket = *pending_->bucket;
    last_reduction_ = collectives_.Reduce(bucket.trained, MakeTag(*pending_, Phase::kGradReduce),
                                          last_, bucket.trained_tensors);
    pending_.reset();
  }

  LoweringContext& context_;
  const LoweredPasses& passes_;
  const int stage_;
  const int32_t rank_;  // the group's first
  DataCollectives collectives_;
  const std::vector<size_t> workers_;       // of the stage
  std::vector<TaskId> tasks_;               // of the part at hand
  std::vector<TaskId> last_, before_last_;  // of the last two parts before it
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
