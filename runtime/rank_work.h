// RankWork: what the tasks of one rank compute and hand to others. An executor runs them in the
// order of the schedule; the contents of the buffers are up to the work.
#pragma once

#include <cstddef>
#include <span>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// Calls for different tasks may come from two threads at once: while one computes, the other may
// exchange. What a task needs has been done before it.
class RankWork {
 public:
  virtual ~RankWork() = default;

  virtual void BeginStep() {}
  // Runs op `index` of a task's op sequence, which is no collective. A task without ops runs none.
  virtual void Run(TaskId task, int index) = 0;
  // Called after all ops of a task on the compute lane.
  virtual void Finish(TaskId /*task*/) {}
  // What op `index` of a task exchanges, `Op::bytes` long: for a message what is sent, or, on its
  // receiver, where it goes; for a collective its whole buffer, in place. For an all-gather the
  // rank's own part is filled; for a reduce-scatter this is the part that the rank gets.
  virtual std::span<float> Buffer(TaskId task, int index) = 0;
  // Called when the message of a task is in its buffer.
  virtual void Receive(TaskId /*task*/) {}
};

}  // namespace stagecraft
