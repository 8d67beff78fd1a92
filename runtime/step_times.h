// StepTimes: makes a timeline from the times that the ranks of an executed training step recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "runtime/rank_program.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// When a rank's part in a task began and ended, as the time since all ranks began the training
// step.
struct StepRecord {
  Duration start, end;
};

// Makes the timeline. A task begins when the last rank that holds a lane for it begins it, but not
// before everything that it waits for has ended. It ends when the last rank has computed its part;
// a message ends when it has been received, a collective when the first rank notices that it is
// over.
class StepTimes {
 public:
  explicit StepTimes(const Schedule& schedule);

  // Adds what one rank of this process recorded; `records` has an entry for each step of its
  // program.
  void Add(const RankProgram& program, std::span<const StepRecord> records);

  // Makes the timeline from these and the records that other processes added. `most` must replace
  // each element by its maximum over all processes. May be called only once.
  using Most = std::function<void(std::span<int64_t> values)>;
  Timeline Join(const Most& most);

 private:
  const Schedule& schedule_;
  std::vector<int64_t> start_, end_, minus_first_end_;  // by task, in ns
};

// Returns a timeline with these starts and ends of tasks, moved where necessary to when everything
// for which a task waits has ended. The dependencies of the schedule must not form a circle.
Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end);

}  // namespace stagecraft
