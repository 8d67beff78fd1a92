// RankProgram: what one rank of a schedule does, and with whom.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

enum class StepKind : uint8_t {
  kCompute,     // an op sequence of its own; collectives in it are run in turn
  kCollective,  // a collective alone, beside what is computed
  kSend,
  kReceive,  // the other end of a message; it holds no lane
};

// The part that one rank has in a task.
struct RankStep {
  TaskId task = -1;
  StepKind kind = StepKind::kCompute;
  int waits = 0;                 // for the ends of this many steps and signals
  std::vector<int32_t> next;     // steps that wait for this one
  std::vector<int32_t> peers;    // ranks that run it together, this one too, in order of
                                 // their group; of a message its sender and its receiver
  std::vector<int32_t> signals;  // ranks that wait for its end and take no part in it
};

// A message from another rank that a task has ended.
struct AwaitedSignal {
  TaskId task = -1;
  int32_t from = -1;
  std::vector<int32_t> next;  // steps that wait for it
};

struct RankProgram {
  int32_t rank = -1;
  int window = 0;                      // messages of a sender's lane that are received ahead
  std::vector<RankStep> steps;         // ascending by task
  std::vector<AwaitedSignal> awaited;  // likewise

  // The index in steps of a task; -1: the rank has no part in it.
  int32_t StepOf(TaskId task) const;
  // nullptr: no rank signals it.
  const AwaitedSignal* SignalOf(TaskId task) const;
};

// The ranks that take part in a task: those of its lanes and of its communicator, ascending.
std::vector<int32_t> TaskRanks(const Schedule& schedule, TaskId task);

// A step waits until it is next on all lanes that the rank holds for it, and for everything on
// which its task depends as far as the rank sees it: its own steps, and signals if no rank takes
// part in both tasks. A message is received when it comes, at most `window` messages of a sender's
// lane ahead. Throws InputError if a rank stands for several devices, because the schedule was
// lowered folded, and if a group has a device that is no rank, such as a server of gradients.
// Linear in tasks, lanes and dependencies.
RankProgram MakeRankProgram(const Schedule& schedule, int32_t rank, int window = 4);

// The ranks that run a collective among the ops of a compute task with this one, including itself:
// `flags` of the op (StepFlags) say along which dimension. The ranks of a replica count tensor
// ranks first. Expert groups extend over the replicas of a stage.
std::vector<int32_t> OpPeers(const Schedule& schedule, int32_t rank, const Op& op, uint8_t flags);

}  // namespace stagecraft
