// RankWork: what the tasks of one rank compute and hand to others. An executor runs them
// in the schedule's order; what is in the buffers is the work's own affair.
#pragma once

#include <cstddef>
#include <span>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// Calls for different tasks may come from two threads at once: while one computes, the other
// may exchange. What a task needs has been done before it.
class RankWork {
 public:
  virtual ~RankWork() = default;

  virtual void BeginStep() {}
  // Op `index` of a task's block, which is no collective. A task without ops runs none.
  virtual void Run(TaskId task, int index) = 0;
  // After all ops of a task on the compute lane.
  virtual void Finish(TaskId /*task*/) {}
  // What op `index` of a task exchanges, `Op::bytes` long: of a message what is sent, or on
  // its receiver where it goes; of a collective its whole buffer, in place. Of a gather the
  // rank's own part is filled, of a reduce-scatter it is what the rank gets.
  virtual std::span<float> Buffer(TaskId task, int index) = 0;
  // The message of a task is in its buffer.
  virtual void Receive(TaskId /*task*/) {}
};

}  // namespace stagecraft
