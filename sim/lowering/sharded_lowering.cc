#include "sim/lowering/sharded_lowering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// One divided part of a pass: the layers of one bucket.
struct Part {
  Pass pass;
  int index = 0;  // within the pass
  ParameterCount parameters;
};

class ShardedTraffic {
 public:
  ShardedTraffic(const Plan& plan, int stage, const DataGroup& group, LoweredPasses& passes,
                 Schedule::Builder& builder)
      : plan_(plan), stage_(stage), group_(group), passes_(passes), builder_(builder) {
    for (size_t w = 0; w < passes.workers().size(); ++w) {
      if (passes.workers()[w].stage == stage) workers_.push_back(w);
    }
  }

  TaskId Run() {
    for (const Part& part : Parts()) {
      const bool is_backward = IsBackward(part.pass.phase);
      const bool needs_weights = part.pass.phase != Phase::kBackwardWeight;
      const bool gathers = passes_.GathersEveryPass(stage_) && needs_weights &&
                           (!is_backward || plan_.reshard_after_forward);
      if (gathers) AddGather(part);
      FlushReduction();
      before_last_ = std::exchange(last_, ComputeTasks(part));
      if (MakesWeightGradients(part.pass.phase) && passes_.ReducesEveryPass(stage_)) {
        pending_ = part;
      }
    }
    FlushReduction();
    return last_reduction_;
  }

 private:
  // The parts of all passes of the stage in the order they compute.
  std::vector<Part> Parts() const {
    std::vector<Part> parts;
    for (const Pass& pass : passes_.workers()[workers_[0]].order) {
      const auto buckets = passes_.buckets(stage_, pass.chunk);
      const bool is_forward = pass.phase == Phase::kForward;
      if (!passes_.GathersEveryPass(stage_) && !MakesWeightGradients(pass.phase)) continue;
      for (size_t i = 0; i < buckets.size(); ++i) {
        const Bucket& bucket = is_forward ? buckets[buckets.size() - 1 - i] : buckets[i];
        parts.push_back({pass, static_cast<int>(i), bucket.parameters});
      }
    }
    return parts;
  }

  // The task of a part on every worker of the stage.
  std::vector<TaskId> ComputeTasks(const Part& part) const {
    std::vector<TaskId> tasks;
    tasks.reserve(workers_.size());
    for (const size_t w : workers_) tasks.push_back(passes_.First(w, part.pass) + part.index);
    return tasks;
  }

  Tag MakeTag(const Part& part, Phase phase) const {
    Tag tag;
    tag.rank = group_.rank;
    tag.stage = static_cast<int16_t>(stage_);
    tag.chunk = part.pass.chunk;
    tag.micro_batch = part.pass.micro_batch;
    tag.phase = phase;
    tag.segment = static_cast<uint8_t>(std::min(part.index, 255));
    return tag;
  }

  // May start while the part before computes: when the one before that is done.
  void AddGather(const Part& part) {
    const TaskId gather =
        AddParameterGather(plan_, part.parameters, group_, MakeTag(part, Phase::kParamGather),
                           before_last_, passes_, builder_);
    for (const TaskId task : ComputeTasks(part)) builder_.AddDependency(gather, task);
  }

  void FlushReduction() {
    if (!pending_) return;
    last_reduction_ =
        AddGradientReduction(plan_, pending_->parameters, group_,
                             MakeTag(*pending_, Phase::kGradReduce), last_, passes_, builder_);
    pending_.reset();
  }

  const Plan& plan_;
  const int stage_;
  const DataGroup& group_;
  LoweredPasses& passes_;
  Schedule::Builder& builder_;
  std::vector<size_t> workers_;             // of the stage
  std::vector<TaskId> last_, before_last_;  // the tasks of the last two parts so far
  std::optional<Part> pending_;             // computed, not yet reduced
  TaskId last_reduction_ = -1;
};

}  // namespace

TaskId AddCollective(OpKind kind, int64_t bytes, const Communicator& among, const DataGroup& group,
                     const Tag& tag, std::span<const TaskId> after, LoweredPasses& passes,
                     Schedule::Builder& builder) {
  Op op = Op::Collective(kind, Bytes(bytes), among.fabric);
  op.sync = among.sync;
  const BlockId block = passes.blocks().SingleOp(op);
  const TaskId task = builder.Add(group.lanes, after, block, tag);
  builder.SetCommunicator(task, among.id);
  return task;
}

TaskId AddParameterGather(const Plan& plan, const ParameterCount& parameters,
                          const DataGroup& group, const Tag& tag, std::span<const TaskId> after,
                          LoweredPasses& passes, Schedule::Builder& builder) {
  const TaskId dense = AddCollective(OpKind::kAllGather, parameters.dense * plan.WorkingBytes(),
                                     group.dense.sharing, group, tag, after, passes, builder);
  if (parameters.expert == 0 || group.experts.shards() == 1) return dense;
  return AddCollective(OpKind::kAllGather, parameters.expert * plan.WorkingBytes(),
                       group.experts.sharing, group, tag, {&dense, 1}, passes, builder);
}

namespace {

// Gradients of parameters that `holders` have: one sum for all, or a share
// each, which those that hold copies of it add up.
TaskId AddHoldersReduction(const Plan& plan, int64_t parameters, const Holders& holders,
                           const DataGroup& group, const Tag& tag, std::span<const TaskId> after,
                           LoweredPasses& passes, Schedule::Builder& builder) {
  const int64_t bytes = parameters * plan.gradient_bytes;
  if (plan.zero == 0) {
    Communicator among = holders.all;
    const bool is_last_chunk = tag.chunk < 0 || tag.chunk == plan.chunk_count() - 1;
    // A dead server is noticed once a step, by what is reduced first.
    if (!is_last_chunk || tag.segment > 0) among.sync.timeout = Duration();
    return AddCollective(OpKind::kAllReduce, bytes, among, group, tag, after, passes, builder);
  }
  const TaskId last = AddCollective(OpKind::kReduceScatter, bytes, holders.sharing, group, tag,
                                    after, passes, builder);
  if (holders.copies.fabric.ranks == 1) return last;
  return AddCollective(OpKind::kAllReduce, DivideUp(bytes, holders.shards()), holders.copies, group,
                       tag, {&last, 1}, passes, builder);
}

}  // namespace

TaskId AddGradientReduction(const Plan& plan, const ParameterCount& parameters,
                            const DataGroup& group, const Tag& tag, std::span<const TaskId> after,
                            LoweredPasses& passes, Schedule::Builder& builder) {
  const TaskId dense =
      AddHoldersReduction(plan, parameters.dense, group.dense, group, tag, after, passes, builder);
  if (parameters.expert == 0 || group.experts.all.fabric.ranks == 1) return dense;
  return AddHoldersReduction(plan, parameters.expert, group.experts, group, tag, {&dense, 1},
                             passes, builder);
}

std::vector<TaskId> AddShardedTraffic(const Plan& plan, int stage,
                                      std::span<const DataGroup> groups, LoweredPasses& passes,
                                      Schedule::Builder& builder) {
  std::vector<TaskId> reductions;
  for (const DataGroup& group : groups) {
    const TaskId last = ShardedTraffic(plan, stage, group, passes, builder).Run();
    if (last >= 0) reductions.push_back(last);
  }
  return reductions;
}

}  // namespace stagecraft
