// RankWork: what the tasks of one rank compute and exchange. An executor runs the tasks in the
// order of the schedule; the contents of the buffers are up to the work.
#pragma once

#include <cstddef>
#include <span>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// An interface. Calls for different tasks may come from two threads at once: one computes while the
// other exchanges. All tasks on which a task depends have been done before it.
class RankWork {
 public:
  virtual ~RankWork() = default;

  virtual void BeginStep() {}
  // Runs op `index` of a task's op sequence, which must not be a collective. Not called for a task
  // without ops.
  virtual void Run(TaskId task, int index) = 0;
  // Called after all ops of a task on the compute lane.
  virtual void Finish(TaskId /*task*/) {}
  // Returns what op `index` of a task exchanges, `Op::bytes` long: for a message what is sent or,
  // on its receiver, where it goes; for a collective its whole buffer, in place. For an all-gather
  // the rank's own part must be filled; a reduce-scatter leaves the rank's result there.
  virtual std::span<float> Buffer(TaskId task, int index) = 0;
  // Called when the message of a task is in its buffer.
  virtual void Receive(TaskId /*task*/) {}
};

}  // namespace stagecraft
