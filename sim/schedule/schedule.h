// Schedule: the lowered, frozen DAG that the engine and the runtime execute.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {

// Devices of a cluster that run a collective together, in ring order; several groups run it side by
// side. For a message: its sender and its receiver.
using DeviceGroups = std::vector<std::vector<int32_t>>;

// Frozen: it consists of tasks, the lanes that each task occupies, the issue order of every lane,
// dependencies in compressed rows, and the ops that each task runs one after another. A task runs
// when it is next on all its lanes and everything on which it depends has ended.
class Schedule {
 public:
  class Builder;

  int task_count() const { return static_cast<int>(op_sequence_.size()); }
  int lane_count() const { return static_cast<int>(order_begin_.size()) - 1; }

  std::span<const Lane> lanes(TaskId t) const {
    return {lanes_.data() + begin_[t].lane, lanes_.data() + begin_[t + 1].lane};
  }
  // For each of lanes(t) the task that is issued after t; -1 after the last.
  std::span<const TaskId> next_on_lanes(TaskId t) const {
    return {next_on_lane_.data() + begin_[t].lane, next_on_lane_.data() + begin_[t + 1].lane};
  }
  std::span<const TaskId> successors(TaskId t) const {
    return {next_.data() + begin_[t].next, next_.data() + begin_[t + 1].next};
  }
  int predecessor_count(TaskId t) const { return predecessors_[t]; }
  std::span<const TaskId> order(Lane lane) const { return Row(order_begin_, order_, Index(lane)); }
  const Tag& tag(TaskId t) const { return tags_[t]; }
  OpSequenceId op_sequence(TaskId t) const { return op_sequence_[t]; }  // -1: no ops
  // The devices that take part, as an index into communicators(); -1: only the task's own ranks.
  int32_t communicator(TaskId t) const { return communicator_[t]; }
  std::span<const DeviceGroups> communicators() const { return communicators_; }

  int op_sequence_count() const { return static_cast<int>(sequence_begin_.size()) - 1; }
  std::span<const OpId> ops(OpSequenceId op_sequence) const {
    return Row(sequence_begin_, sequence_ops_, op_sequence);
  }
  // The StepFlags of each of ops(op_sequence).
  std::span<const uint8_t> flags(OpSequenceId op_sequence) const {
    return Row(sequence_begin_, sequence_flags_, op_sequence);
  }
  std::span<const Op> distinct_ops() const { return op_table_; }
  const Op& op(OpId id) const { return op_table_[id]; }

  // Returns a copy that runs these ops, by OpId, in place of its own.
  Schedule WithOps(std::vector<Op> ops) const;

  std::span<const LaneInfo> lane_infos() const { return lane_infos_; }
  std::span<const RankInfo> ranks() const { return ranks_; }

 private:
  template <typename T>
  static std::span<const T> Row(const std::vector<int32_t>& begin, const std::vector<T>& values,
                                int32_t row) {
    return {values.data() + begin[row], values.data() + begin[row + 1]};
  }

  // First entry of a task's row in lanes_ and in next_; there is one more at the end.
  struct Begin {
    int32_t lane = 0;
    int32_t next = 0;
  };

  std::vector<Begin> begin_;
  std::vector<Lane> lanes_;
  std::vector<TaskId> next_on_lane_, next_;
  std::vector<int32_t> order_begin_;
  std::vector<TaskId> order_;
  std::vector<int32_t> predecessors_;
  std::vector<Tag> tags_;
  std::vector<OpSequenceId> op_sequence_;
  std::vector<int32_t> communicator_;
  std::vector<DeviceGroups> communicators_;
  std::vector<int32_t> sequence_begin_{0};
  std::vector<OpId> sequence_ops_;
  std::vector<uint8_t> sequence_flags_;
  std::vector<Op> op_table_;
  std::vector<LaneInfo> lane_infos_;
  std::vector<RankInfo> ranks_;
};

// Tasks enter each lane's issue order as they are added. Dependencies may name tasks in any order;
// Build() does not look for cycles (the engine does).
class Schedule::Builder {
 public:
  // Reserves memory for this many tasks and dependencies, for building large schedules.
  void Reserve(int tasks, int dependencies);

  TaskId Add(Lane lane, std::initializer_list<TaskId> after = {});
  TaskId Add(std::span<const Lane> lanes, std::span<const TaskId> after, OpSequenceId op_sequence,
             const Tag& tag);
  void AddDependency(TaskId before, TaskId after);
  const Tag& tag(TaskId task) const { return schedule_.tag(task); }

  int32_t AddCommunicator(DeviceGroups groups);
  void SetCommunicator(TaskId task, int32_t communicator);
  OpId AddOp(const Op& op);  // callers keep ops distinct if that matters
  // `flags` are by op, or empty if no op has any.
  OpSequenceId AddOpSequence(std::span<const OpId> ops, std::span<const uint8_t> flags = {});
  Lane AddLane(const LaneInfo& info);
  int32_t AddRank(const RankInfo& rank);

  // Consumes the builder.
  Schedule Build();

 private:
  void BuildSuccessors();
  void BuildOrders();

  Schedule schedule_;
  int32_t lane_count_ = 0;
  std::vector<TaskId> before_, after_;
};

}  // namespace stagecraft
