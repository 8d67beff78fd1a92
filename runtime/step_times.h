// StepTimes: a timeline from what the ranks of an executed step saw.
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

// A task begins when the last rank that holds a lane for it does, but never before what it
// waits for has ended. It ends when the last rank has computed its part, a message when it was
// received, a collective when the first rank knows it over.
class StepTimes {
 public:
  explicit StepTimes(const Schedule& schedule);

  // Of one rank of this process, by step of its program.
  void Add(const RankProgram& program, std::span<const StepRecord> records);

  // With what other processes added: `most` leaves, element by element, the most of all. Once.
  using Most = std::function<void(std::span<int64_t> values)>;
  Timeline Join(const Most& most);

 private:
  const Schedule& schedule_;
  std::vector<int64_t> start_, end_, minus_first_end_;  // by task, in ns
};

// Starts and ends by task are moved, where they must, to when all that a task waits for has
// ended. Needs a schedule without circles.
Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end);

}  // namespace stagecraft
