// Steps made by hand, for tests of repetition: what a step of few micro-batches says about one of
// many, and what the step of many takes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/engine/repetition.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

struct HandMadeStep {
  Schedule schedule;
  std::vector<Duration> durations;  // by task
  std::vector<Launch> launches;     // by task, or empty
  // Stretches durations by what ran side by side; empty: nothing is shared.
  std::function<void(const Timeline& alone, std::vector<Duration>& durations)> share = {};
};

class StepBuilder {
 public:
  Lane AddLane(LaneKind kind) { return builder_.AddLane({0, kind}); }

  TaskId Add(Lane lane, const Tag& tag, Duration duration, std::initializer_list<TaskId> after = {},
             OpSequenceId op_sequence = -1) {
    step_.durations.push_back(duration);
    return builder_.Add({&lane, 1}, {after.begin(), after.size()}, op_sequence, tag);
  }
  void AddDependency(TaskId before, TaskId after) { builder_.AddDependency(before, after); }
  void SetLaunch(TaskId task, const Launch& launch) {
    if (step_.launches.size() <= static_cast<size_t>(task)) step_.launches.resize(task + 1);
    step_.launches[task] = launch;
  }

  HandMadeStep Build() {
    if (!step_.launches.empty()) step_.launches.resize(step_.durations.size());
    step_.schedule = builder_.Build();
    return std::move(step_);
  }

 private:
  Schedule::Builder builder_;
  HandMadeStep step_;
};

inline constexpr int kNoMicroBatch = -1;

inline Tag TagOf(Phase phase, int micro_batch, int chunk = 0, int segment = 0) {
  Tag tag;
  tag.chunk = static_cast<int16_t>(chunk);
  tag.micro_batch = micro_batch;
  tag.phase = phase;
  tag.segment = static_cast<uint8_t>(segment);
  return tag;
}

// Adds forward and backward of one micro-batch after another; returns the last backward.
inline TaskId AddPasses(StepBuilder& step, Lane lane, int micro_batches, Duration forward,
                        Duration backward) {
  TaskId last = -1;
  for (int k = 0; k < micro_batches; ++k) {
    step.Add(lane, TagOf(Phase::kForward, k), forward);
    last = step.Add(lane, TagOf(Phase::kBackward, k), backward);
  }
  return last;
}

// The makespan, the makespan if nothing were shared, and how many tasks of a phase a lane runs in
// how much time.
struct Taken {
  struct Sum {
    int64_t tasks = 0;
    Duration time;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  Duration makespan, unshared;
  std::map<std::pair<int, Phase>, Sum> sums;

  friend bool operator==(const Taken&, const Taken&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Taken& taken) {
    out << taken.makespan.us() << " us, unshared " << taken.unshared.us() << " us";
    for (const auto& [key, sum] : taken.sums) {
      out << "; lane " << key.first << " " << Name(key.second) << " " << sum.tasks << " x, "
          << sum.time.us() << " us";
    }
    return out;
  }
};

inline Taken Take(const Schedule& schedule, std::span<const Replay> replays,
                  const Repetition& repetition = {}) {
  const Timeline& timeline = replays.back().timeline;
  Taken taken;
  taken.unshared = replays.front().timeline.makespan() + repetition.UnsharedDelay();
  taken.makespan = timeline.makespan() + repetition.Delay();
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    int entry = 0;
    for (const TaskId task : schedule.order(Lane(lane))) {
      const int64_t times = repetition.Count(lane, entry++);
      Taken::Sum& sum = taken.sums[{lane, schedule.tag(task).phase}];
      sum.tasks += times;
      sum.time += times * (timeline.end(task) - timeline.start(task));
    }
  }
  return taken;
}

inline std::vector<Replay> ReplayStep(const HandMadeStep& step) {
  std::vector<Replay> replays;
  Engine engine;
  const auto replay = [&](const std::vector<Duration>& durations) {
    Timeline timeline = engine.Run(step.schedule, durations, {.launches = step.launches});
    const auto launched = engine.launched();
    replays.push_back({durations, std::move(timeline), {launched.begin(), launched.end()}});
  };
  replay(step.durations);
  if (step.share) {
    std::vector<Duration> durations = step.durations;
    step.share(replays[0].timeline, durations);
    replay(durations);
  }
  return replays;
}

// Makes a step by its number of micro-batches.
using MakeStep = std::function<HandMadeStep(int micro_batches)>;

inline Taken Whole(const MakeStep& make, int micro_batches) {
  const HandMadeStep step = make(micro_batches);
  return Take(step.schedule, ReplayStep(step));
}

// What a step of `many` micro-batches takes, derived from one of `few`.
inline std::optional<Taken> Told(const MakeStep& make, int few, int many, int group = 1) {
  const HandMadeStep step = make(few);
  const std::vector<Replay> replays = ReplayStep(step);
  const std::optional<Repetition> found =
      FindRepetition(step.schedule, replays, step.launches, many - few, group);
  if (!found) return std::nullopt;
  return Take(step.schedule, replays, *found);
}

// Checks that nothing is derived from a step of `few` that looks as if each further micro-batch
// took `period`, which would not be true.
inline void ExpectNotTold(const MakeStep& make, int few, int many, Duration period) {
  EXPECT_EQ(Told(make, few, many), std::nullopt);
  EXPECT_NE(Whole(make, many).makespan, Whole(make, few).makespan + (many - few) * period);
}

}  // namespace stagecraft
