// StepTimes: makes a timeline from what the ranks of an executed training step saw.
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

// When a rank's part in a task began and ended, since all ranks began the step.
struct StepRecord {
  Duration start, end;
};

// A task begins when the last rank that holds a lane for it begins it, but never before what it
// waits for has ended. It ends when the last rank has computed its part; a message ends when it was
// received, a collective when the first rank knows that it is over.
class StepTimes {
 public:
  explicit StepTimes(const Schedule& schedule);

  // Adds the records of one rank of this process, by step of its program.
  void Add(const RankProgram& program, std::span<const StepRecord> records);

  // Makes the timeline with what other processes added: `most` leaves, element by element, the
  // maximum over all processes. To be called once.
  using Most = std::function<void(std::span<int64_t> values)>;
  Timeline Join(const Most& most);

 private:
  const Schedule& schedule_;
  std::vector<int64_t> start_, end_, minus_first_end_;  // by task, in ns
};

// Moves starts and ends, by task, where necessary, to when everything for which a task waits has
// ended. The schedule must have no circles.
Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end);

}  // namespace stagecraft
