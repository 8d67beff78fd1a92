// RepeatedTasks: the tasks of a step of which only a part was simulated, because further
// micro-batches repeat it (repetition.h).
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/repetition.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// The schedule and the repetition must outlive it. With an empty repetition each task comes once.
class RepeatedTasks {
 public:
  RepeatedTasks(const Schedule& schedule, const Repetition& repetition);

  // How often a task comes.
  int64_t Count(TaskId task) const {
    return is_repeated_.empty() || !is_repeated_[task] ? 1 : 1 + repetition_.times;
  }
  // The number of tasks of the whole step.
  int64_t total() const { return total_; }

  // Whether the order in which the tasks of the whole step are numbered is known: if only passes
  // and messages between stages repeat, worker by worker.
  bool HasOrder() const;
  // Timeline::Fingerprint() of the whole step. Precondition: HasOrder(). Cost: linear in the tasks
  // of the whole step, in the memory of the part.
  uint64_t Fingerprint(const Timeline& timeline) const;

 private:
  const Schedule& schedule_;
  const Repetition& repetition_;
  std::vector<bool> is_repeated_;  // by task; empty: nothing is
  int64_t total_ = 0;
};

}  // namespace stagecraft
