#include "sim/schedule/schedule.h"

#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

const char* Name(Phase phase) {
  constexpr const char* kNames[] = {
      "forward",       "backward", "backward input", "backward weight",     "send forward",
      "send backward", "context",  "grad reduce",    "grad norm",           "optimizer",
      "param gather",  "offload",  "fetch",          "vocabulary exchange", "expert exchange"};
  return kNames[static_cast<int>(phase)];
}

const char* Name(LaneKind kind) {
  constexpr const char* kNames[] = {"compute",  "send next", "send previous", "dp", "cp",
                                    "host out", "host in",   "vocabulary",    "ep"};
  return kNames[static_cast<int>(kind)];
}

Schedule Schedule::WithOps(std::vector<Op> ops) const {
  CHECK(ops.size() == op_table_.size());
  Schedule copy = *this;
  copy.op_table_ = std::move(ops);
  return copy;
}

void Schedule::Builder::Reserve(int tasks, int dependencies) {
  schedule_.op_sequence_.reserve(tasks);
  schedule_.communicator_.reserve(tasks);
  schedule_.tags_.reserve(tasks);
  schedule_.begin_.reserve(tasks + 1);
  schedule_.lanes_.reserve(tasks);
  before_.reserve(dependencies);
  after_.reserve(dependencies);
}

TaskId Schedule::Builder::Add(Lane lane, std::initializer_list<TaskId> after) {
  return Add(std::span(&lane, 1), std::span(after.begin(), after.size()), -1, Tag());
}

TaskId Schedule::Builder::Add(std::span<const Lane> lanes, std::span<const TaskId> after,
                              OpSequenceId op_sequence, const Tag& tag) {
  const TaskId task = schedule_.task_count();
  schedule_.op_sequence_.push_back(op_sequence);
  schedule_.communicator_.push_back(-1);
  schedule_.tags_.push_back(tag);
  schedule_.begin_.push_back({static_cast<int32_t>(schedule_.lanes_.size()), 0});
  for (const Lane lane : lanes) {
    schedule_.lanes_.push_back(lane);
    if (Index(lane) >= lane_count_) lane_count_ = Index(lane) + 1;
  }
  for (const TaskId before : after) AddDependency(before, task);
  return task;
}

void Schedule::Builder::AddDependency(TaskId before, TaskId after) {
  before_.push_back(before);
  after_.push_back(after);
}

int32_t Schedule::Builder::AddCommunicator(DeviceGroups groups) {
  schedule_.communicators_.push_back(std::move(groups));
  return static_cast<int32_t>(schedule_.communicators_.size()) - 1;
}

void Schedule::Builder::SetCommunicator(TaskId task, int32_t communicator) {
  schedule_.communicator_[task] = communicator;
}

OpId Schedule::Builder::AddOp(const Op& op) {
  schedule_.op_table_.push_back(op);
  return static_cast<OpId>(schedule_.op_table_.size()) - 1;
}

OpSequenceId Schedule::Builder::AddOpSequence(std::span<const OpId> ops,
                                              std::span<const uint8_t> flags) {
  CHECK(flags.empty() || flags.size() == ops.size());
  schedule_.sequence_ops_.insert(schedule_.sequence_ops_.end(), ops.begin(), ops.end());
  schedule_.sequence_flags_.insert(schedule_.sequence_flags_.end(), flags.begin(), flags.end());
  schedule_.sequence_flags_.resize(schedule_.sequence_ops_.size(), 0);
  schedule_.sequence_begin_.push_back(static_cast<int32_t>(schedule_.sequence_ops_.size()));
  return schedule_.op_sequence_count() - 1;
}

Lane Schedule::Builder::AddLane(const LaneInfo& info) {
  CHECK(lane_count_ == static_cast<int32_t>(schedule_.lane_infos_.size()));
  schedule_.lane_infos_.push_back(info);
  return Lane(lane_count_++);
}

int32_t Schedule::Builder::AddRank(const RankInfo& rank) {
  schedule_.ranks_.push_back(rank);
  return static_cast<int32_t>(schedule_.ranks_.size()) - 1;
}

Schedule Schedule::Builder::Build() {
  schedule_.begin_.push_back({static_cast<int32_t>(schedule_.lanes_.size()), 0});
  BuildSuccessors();
  BuildOrders();
  return std::move(schedule_);
}

// Makes the rows of successors by counting sort; each row keeps the order of insertion, as it is
// filled from its end.
void Schedule::Builder::BuildSuccessors() {
  const int tasks = schedule_.task_count();
  schedule_.predecessors_.assign(tasks, 0);
  for (size_t i = 0; i < before_.size(); ++i) {
    ++schedule_.begin_[before_[i]].next;
    ++schedule_.predecessors_[after_[i]];
  }
  int32_t sum = 0;  // first the ends of the rows
  for (TaskId task = 0; task <= tasks; ++task) {
    sum += schedule_.begin_[task].next;
    schedule_.begin_[task].next = sum;
  }
  schedule_.next_.resize(before_.size());
  for (size_t i = before_.size(); i-- > 0;) {
    schedule_.next_[--schedule_.begin_[before_[i]].next] = after_[i];
  }
  std::vector<TaskId>().swap(before_);
  std::vector<TaskId>().swap(after_);
}

// Makes issue orders by counting sort over tasks, and finds every task's follower in them.
void Schedule::Builder::BuildOrders() {
  schedule_.order_begin_.assign(lane_count_ + 1, 0);
  for (const Lane lane : schedule_.lanes_) ++schedule_.order_begin_[Index(lane) + 1];
  for (int32_t lane = 0; lane < lane_count_; ++lane) {
    schedule_.order_begin_[lane + 1] += schedule_.order_begin_[lane];
  }
  std::vector<int32_t> fill(schedule_.order_begin_.begin(), schedule_.order_begin_.end() - 1);
  std::vector<int32_t> last_entry(lane_count_, -1);
  schedule_.order_.resize(schedule_.lanes_.size());
  schedule_.next_on_lane_.assign(schedule_.lanes_.size(), -1);
  for (TaskId task = 0; task < schedule_.task_count(); ++task) {
    for (int32_t i = schedule_.begin_[task].lane; i < schedule_.begin_[task + 1].lane; ++i) {
      const int32_t lane = Index(schedule_.lanes_[i]);
      schedule_.order_[fill[lane]++] = task;
      if (last_entry[lane] >= 0) schedule_.next_on_lane_[last_entry[lane]] = task;
      last_entry[lane] = i;
    }
  }
}

}  // namespace stagecraft
