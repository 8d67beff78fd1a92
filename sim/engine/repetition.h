// Repetition: which part of a step more micro-batches would repeat, proven on its
// timeline.
//
// A pipeline that alternates forwards and backwards settles: each task starts one period
// after the one that did the same some micro-batches before. Where everything that later
// tasks depend on has come twice at that distance, so does everything they do, and
// more micro-batches only put more periods before the end. What a step of many takes is
// then what one of a few takes, with a part of it counted more often, to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Of the lanes' issue orders, entries [first, last) come `times` more times.
struct Repetition {
  struct Part {
    int32_t first = 0;
    int32_t last = 0;
  };
  int64_t times = 0;
  Duration period;           // that each of them takes
  Duration unshared_period;  // the same in the first replay
  std::vector<Part> parts;   // by lane; none: nothing is repeated

  // How often an entry of a lane's order comes.
  int64_t Count(int lane, int entry) const {
    const bool is_repeated =
        !parts.empty() && entry >= parts[lane].first && entry < parts[lane].last;
    return is_repeated ? 1 + times : 1;
  }
  // By how much later everything ends that is not repeated but comes after it.
  Duration Delay() const { return times * period; }
  Duration UnsharedDelay() const { return times * unshared_period; }  // in the first replay
};

// A schedule's timeline and what it came from.
struct Replay {
  std::vector<Duration> durations;  // by task
  Timeline timeline;
  std::vector<Duration> launched;  // Engine::launched()
};

// The part of a step that `more` micro-batches of every pipeline repeat; nothing where that
// is not proven. The step is one that ShortenStep() made, and its orders take micro-batches in
// groups of `group`. `replays`: one after another, the durations of each taken from the
// timeline of the one before; the last is the step. Cost: a few periods of the step.
std::optional<Repetition> FindRepetition(const Schedule& schedule, std::span<const Replay> replays,
                                         std::span<const Launch> launches, int64_t more,
                                         int64_t group);

}  // namespace stagecraft
