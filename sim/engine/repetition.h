// Repetition: which part of a step further micro-batches would repeat, proven on its timeline.
//
// A pipeline that alternates forwards and backwards settles: each task starts one period after the
// task that did the same some micro-batches before. Once everything on which later tasks depend has
// come twice at that distance, so does everything that they do, and further micro-batches only
// insert periods before the end. What a step of many micro-batches takes is then what a step of a
// few takes with a part of it counted more often, to the nanosecond.
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

// Entries [first, last) of the lanes' issue orders come `times` more times.
struct Repetition {
  struct Part {
    int32_t first = 0;
    int32_t last = 0;
  };
  int64_t times = 0;
  Duration period;           // that each repetition takes
  Duration unshared_period;  // the same in the first replay
  std::vector<Part> parts;   // by lane; empty: nothing is repeated

  // How often an entry of a lane's issue order comes.
  int64_t Count(int lane, int entry) const {
    const bool is_repeated =
        !parts.empty() && entry >= parts[lane].first && entry < parts[lane].last;
    return is_repeated ? 1 + times : 1;
  }
  // By how much later everything ends that comes after the repeated part.
  Duration Delay() const { return times * period; }
  Duration UnsharedDelay() const { return times * unshared_period; }  // in the first replay
};

// The timeline of a schedule and the inputs of its replay.
struct Replay {
  std::vector<Duration> durations;  // by task
  Timeline timeline;
  std::vector<Duration> launched;  // Engine::launched()
};

// The part of a step that `more` further micro-batches of every pipeline repeat; no value if that
// is not proven. The step must be one that ShortenStep() or ShortenMore() made, with pipeline
// schedules that take micro-batches in groups of `group`. `replays` come one after another, the
// durations of each taken from the timeline of the one before; the last is the step. Cost: a few
// periods of the step.
std::optional<Repetition> FindRepetition(const Schedule& schedule, std::span<const Replay> replays,
                                         std::span<const Launch> launches, int64_t more,
                                         int64_t group);

}  // namespace stagecraft
