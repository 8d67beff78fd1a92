// DataCollectives: the collectives of one data-parallel group, as tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/lowering/data_groups.h"
#include "sim/lowering/lowering_context.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"

namespace stagecraft {

// Every task holds the group's lanes, carries the given tag and waits for `after`. If a method adds
// several tasks, each waits for the one before it, and the method returns the last.
class DataCollectives {
 public:
  // Both arguments must outlive it.
  DataCollectives(LoweringContext& context, const DataGroup& group)
      : context_(context), group_(group) {}

  // Gathers parameters on the ranks that share them; the dense ones tensor by tensor if their sizes
  // are given.
  TaskId Gather(const ParameterCount& parameters, const Tag& tag, std::span<const TaskId> after,
                std::span<const int64_t> tensors = {});
  // Hands on parameters by a broadcast of each rank that shares them, one after another.
  TaskId Broadcast(const ParameterCount& parameters, const Tag& tag, std::span<const TaskId> after);
  // Reduces gradients: over the ranks that share them, and among the ranks that hold copies of the
  // same share. Gradients of experts are reduced among the ranks that hold the same experts, and
  // dense ones tensor by tensor if their sizes are given.
  TaskId Reduce(const ParameterCount& parameters, const Tag& tag, std::span<const TaskId> after,
                std::span<const int64_t> tensors = {});
  // Adds one collective.
  TaskId Add(OpKind kind, int64_t bytes, const Communicator& among, const Tag& tag,
             std::span<const TaskId> after);

 private:
  // Adds one collective for each tensor, as a single task, and what their lists take as another;
  // one of all of them if no size is given.
  TaskId AddEach(OpKind kind, int64_t parameters, std::span<const int64_t> tensors,
                 int64_t element_bytes, const Communicator& among, const Tag& tag,
                 std::span<const TaskId> after);
  TaskId BroadcastAmong(const Holders& holders, int64_t parameters, const Tag& tag,
                        std::span<const TaskId> after);
  TaskId ReduceAmong(const Holders& holders, int64_t parameters, const Tag& tag,
                     std::span<const TaskId> after, std::span<const int64_t> tensors = {});

  // Returns the op sequence of one collective. Steps repeat few of them, so those of this object
  // are looked for in a list.
  OpSequenceId Collective(OpKind kind, int64_t bytes, const Communicator& among);

  struct Known {
    OpKind kind;
    int64_t bytes;
    int32_t communicator;
    GradientSync sync;  // communicators of one number may differ in it
    OpSequenceId op_sequence;
  };

  LoweringContext& context_;
  const DataGroup& group_;
  std::vector<Known> known_;
};

}  // namespace stagecraft
