#include "sim/analysis/timeline_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two ranks that pass micro-batches on, their tasks one after another on each lane.
Schedule MakeSchedule(int tasks) {
  Schedule::Builder builder;
  std::vector<Lane> lanes;
  for (int16_t stage = 0; stage < 2; ++stage) {
    builder.AddRank({.device = stage, .stage = stage});
    lanes.push_back(builder.AddLane({stage, LaneKind::kCompute}));
  }
  std::vector<TaskId> after;
  for (int i = 0; i < tasks; ++i) {
    Tag tag;
    tag.rank = i % 2;
    const Lane lane[] = {lanes[i % 2]};
    after = {builder.Add(lane, after, /*block=*/-1, tag)};
  }
  return builder.Build();
}

// Tasks that begin up to 3 us before what they wait for has ended, as clocks differ.
TimelineRecord Measure(const Schedule& schedule, Random random) {
  std::vector<Duration> start, end;
  Duration last;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Duration early = Duration::Nanoseconds(random.Integer(0, 3000));
    start.push_back(std::max(Duration(), last - early));
    end.push_back(start.back() + Duration::Nanoseconds(random.Integer(3000, 90000)));
    last = end.back();
  }
  TimelineRecord record;
  record.schedule = schedule;
  record.timeline = Timeline(start, end);
  record.peak_memory = {Bytes(5), Bytes(7)};
  record.measurement = Measurement{.executor = "host",
                                   .software = "",
                                   .devices = {},
                                   .steps = {record.timeline.makespan()},
                                   .task_sigma = std::vector<Duration>(start.size()),
                                   .gpus = {},
                                   .queued_late = {}};
  return record;
}

TEST(TimelineErrorsTest, NothingIsWrongWithStepsThatRanAndTheirComparisons) {
  for (int seed = 0; seed < 200; ++seed) {
    const Schedule schedule = MakeSchedule(1 + seed % 20);
    const TimelineRecord one = Measure(schedule, Random(seed).Child("one", 1));
    const TimelineRecord other = Measure(schedule, Random(seed).Child("other", 2));
    EXPECT_EQ(FindErrors(one), std::vector<std::string>()) << seed;
    EXPECT_EQ(FindErrors(CompareTimelines(one, other)), std::vector<std::string>()) << seed;
  }
}

TEST(TimelineErrorsTest, WhatNoStepCanBeIsFound) {
  const TimelineRecord sound = Measure(MakeSchedule(6), Random(1));
  const std::vector<std::function<void(TimelineRecord&)>> changes = {
      [](TimelineRecord& r) { r.timeline = Timeline(); },
      [](TimelineRecord& r) { r.timeline = Timeline({Duration()}, {Duration::Max()}); },
      [](TimelineRecord& r) { r.timeline = Timeline({Duration() - 5_ns}, {9_ns}); },
      [](TimelineRecord& r) { r.peak_memory[1] = Bytes(-1); },
      [](TimelineRecord& r) { r.measurement->steps[0] = Duration(); },
      [](TimelineRecord& r) { r.measurement->task_sigma[3] = Duration() - 1_ns; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    TimelineRecord record = sound;
    changes[i](record);
    EXPECT_FALSE(FindErrors(record).empty()) << i;
    EXPECT_THROW(RequireSound(record, "the step"), std::runtime_error) << i;
  }
}

TEST(TimelineErrorsTest, WhatNoComparisonCanBeIsFound) {
  const Schedule schedule = MakeSchedule(6);
  const TimelineComparison sound =
      CompareTimelines(Measure(schedule, Random(1)), Measure(schedule, Random(2)));
  const std::vector<std::function<void(TimelineComparison&)>> changes = {
      [](TimelineComparison& c) { c.step.predicted = Duration() - 1_ns; },
      [](TimelineComparison& c) { c.step_sigma = Duration() - 1_ns; },
      [](TimelineComparison& c) { c.phases[0].time.measured = Duration() - 1_ns; },
      [](TimelineComparison& c) { c.phases[0].median_sigma = kNan; },
      [](TimelineComparison& c) { c.path.phases[0].time.predicted += 1_ns; },
      [](TimelineComparison& c) { c.path.ranks[0].time.measured -= 1_ns; },
      [](TimelineComparison& c) { c.slow_down.ratio = kNan; },
      [](TimelineComparison& c) { c.ranks[1].measured_idle = 1.01; },
      [](TimelineComparison& c) { c.ranks[1].predicted_peak = Bytes(-1); },
      [](TimelineComparison& c) { c.predicted_idle = -0.01; },
      [](TimelineComparison& c) { c.measured_idle = kNan; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    TimelineComparison comparison = sound;
    changes[i](comparison);
    EXPECT_FALSE(FindErrors(comparison).empty()) << i;
    EXPECT_THROW(RequireSound(comparison, "both"), std::runtime_error) << i;
  }
}

}  // namespace
}  // namespace stagecraft
