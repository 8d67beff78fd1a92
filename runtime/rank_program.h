// RankProgram: what one rank of a schedule does, and with whom.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

enum class StepKind : uint8_t {
  kCompute,     // ops of the rank itself; collectives among them are run in turn
  kCollective,  // nothing but collectives, beside what is computed
  kSend,
  kReceive,  // the other end of a message, which holds no lane
};

// The part of one rank in a task.
struct RankStep {
  TaskId task = -1;
  StepKind kind = StepKind::kCompute;
  int waits = 0;                 // how many ends of steps and signals it waits for
  std::vector<int32_t> next;     // steps that wait for this one
  std::vector<int32_t> peers;    // ranks that run it together, this one too, in order of
                                 // their group; of a message its sender and its receiver
  std::vector<int32_t> signals;  // ranks that wait for its end and take no part in it
};

// A message by which another rank tells that a task has ended.
struct AwaitedSignal {
  TaskId task = -1;
  int32_t from = -1;
  std::vector<int32_t> next;  // steps that wait for it
};

struct RankProgram {
  int32_t rank = -1;
  int window = 0;                      // how many messages of a sender's lane are received ahead
  std::vector<RankStep> steps;         // in ascending order of task
  std::vector<AwaitedSignal> awaited;  // in ascending order of task

  // Returns the index of a task in `steps`; -1 if the rank has no part in it.
  int32_t StepOf(TaskId task) const;
  // Returns nullptr if no rank signals the end of the task.
  const AwaitedSignal* SignalOf(TaskId task) const;
};

// Returns the ranks that take part in a task: those of its lanes and of its communicator, in
// ascending order.
std::vector<int32_t> TaskRanks(const Schedule& schedule, TaskId task);

// Makes the program of a rank. A step waits until it is next on all lanes that the rank holds for
// it, and until all tasks on which its task depends have ended, as far as the rank sees them: the
// rank's own steps and, if no rank takes part in both tasks, a signal. A message is received when
// it comes, at most `window` messages of a sender's lane ahead. Throws InputError if a rank stands
// for several devices, because the schedule was lowered folded, or if a group contains a device
// that is no rank, such as a server of gradients. Linear in tasks, lanes and dependencies.
RankProgram MakeRankProgram(const Schedule& schedule, int32_t rank, int window = 4);

// Returns the ranks that run a collective among the ops of a compute task with this one, including
// itself. `flags` of the op (StepFlags) say along which dimension. Within a replica, tensor ranks
// are adjacent. Expert groups extend over the replicas of a stage.
std::vector<int32_t> OpPeers(const Schedule& schedule, int32_t rank, const Op& op, uint8_t flags);

}  // namespace stagecraft
