// Tests the engine against a longest-path oracle on random schedules, and the laws that hold for
// all of them. A failure prints the seed of its schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/engine/engine.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr int kSchedules = 3000;
constexpr int kMaxTasks = 60;
constexpr int kMaxLanes = 8;
constexpr int kMaxLanesOfTask = 3;
constexpr int64_t kMaxDurationNs = 20;  // short, so that many tasks end together

// What a random schedule is made of, before it is frozen.
struct Drawn {
  int lanes = 0;
  std::vector<std::vector<int>> lanes_of;  // by task
  std::vector<std::pair<TaskId, TaskId>> dependencies;
  std::vector<Duration> durations;
};

// Draws distinct lanes, in no particular order.
std::vector<int> DrawLanes(int lanes, Random& random) {
  const int64_t count = random.Integer(1, std::min(lanes, kMaxLanesOfTask));
  std::vector<int> chosen;
  while (static_cast<int64_t>(chosen.size()) < count) {
    const int lane = static_cast<int>(random.Integer(0, lanes - 1));
    if (std::find(chosen.begin(), chosen.end(), lane) == chosen.end()) chosen.push_back(lane);
  }
  return chosen;
}

// Draws a schedule. Lanes run tasks in the order of their numbers, so dependencies of tasks on
// those with smaller numbers agree with every lane.
Drawn Draw(uint64_t seed) {
  Random random(seed);
  Drawn drawn;
  const int tasks = static_cast<int>(random.Integer(1, kMaxTasks));
  drawn.lanes = static_cast<int>(random.Integer(1, kMaxLanes));
  const int64_t dependency_percent = random.Integer(0, 30);
  for (TaskId task = 0; task < tasks; ++task) {
    drawn.lanes_of.push_back(DrawLanes(drawn.lanes, random));
    const bool is_instant = random.Integer(0, 4) == 0;
    const int64_t duration = random.Integer(1, kMaxDurationNs);
    drawn.durations.push_back(Duration::Nanoseconds(is_instant ? 0 : duration));
    for (TaskId before = 0; before < task; ++before) {
      if (random.Integer(0, 99) < dependency_percent) drawn.dependencies.push_back({before, task});
    }
  }
  return drawn;
}

// Builds the schedule, in which lane l has the number lane_names[l].
Schedule Freeze(const Drawn& drawn, const std::vector<int>& lane_names) {
  Schedule::Builder builder;
  for (int lane = 0; lane < drawn.lanes; ++lane) builder.AddLane(LaneInfo());
  for (const std::vector<int>& lanes : drawn.lanes_of) {
    std::vector<Lane> renamed;
    for (const int lane : lanes) renamed.push_back(Lane(lane_names[lane]));
    builder.Add(renamed, {}, -1, Tag());
  }
  for (const auto& [before, after] : drawn.dependencies) builder.AddDependency(before, after);
  return builder.Build();
}

std::vector<int> SameNames(const Drawn& drawn) {
  std::vector<int> names(drawn.lanes);
  std::iota(names.begin(), names.end(), 0);
  return names;
}

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

// The graph whose edges are the dependencies and, on every lane, lead from each task to the next.
Graph PrecedenceGraph(const Drawn& drawn) {
  Graph graph(drawn.durations.size());
  for (const auto& [before, after] : drawn.dependencies) boost::add_edge(before, after, graph);
  std::vector<TaskId> last(drawn.lanes, -1);
  for (TaskId task = 0; task < static_cast<TaskId>(drawn.lanes_of.size()); ++task) {
    for (const int lane : drawn.lanes_of[task]) {
      if (last[lane] >= 0) boost::add_edge(last[lane], task, graph);
      last[lane] = task;
    }
  }
  return graph;
}

// The start of each task, which begins as soon as everything before it has ended: the length of the
// longest path to it.
std::vector<Duration> LongestPathStarts(const Drawn& drawn) {
  const Graph graph = PrecedenceGraph(drawn);
  std::vector<Graph::vertex_descriptor> reversed;
  boost::topological_sort(graph, std::back_inserter(reversed));
  std::vector<Duration> starts(drawn.durations.size());
  for (auto vertex = reversed.rbegin(); vertex != reversed.rend(); ++vertex) {
    for (auto [edge, end] = boost::in_edges(*vertex, graph); edge != end; ++edge) {
      const auto before = boost::source(*edge, graph);
      starts[*vertex] = std::max(starts[*vertex], starts[before] + drawn.durations[before]);
    }
  }
  return starts;
}

TEST(EngineOracleTest, EveryTaskRunsOnTheLongestPathToIt) {
  Engine engine;  // one for all, since its buffers must not carry anything from run to run
  int64_t instant_tasks = 0;
  int64_t shared_tasks = 0;
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Drawn drawn = Draw(seed);
    const Schedule schedule = Freeze(drawn, SameNames(drawn));
    const Timeline timeline = engine.Run(schedule, drawn.durations);
    const std::vector<Duration> starts = LongestPathStarts(drawn);
    ASSERT_EQ(timeline.task_count(), static_cast<int>(starts.size())) << "seed " << seed;
    for (TaskId task = 0; task < timeline.task_count(); ++task) {
      ASSERT_EQ(timeline.start(task).ns(), starts[task].ns())
          << "seed " << seed << " task " << task;
      ASSERT_EQ(timeline.end(task).ns(), (starts[task] + drawn.durations[task]).ns())
          << "seed " << seed << " task " << task;
      instant_tasks += drawn.durations[task] == Duration();
      shared_tasks += drawn.lanes_of[task].size() > 1;
    }
  }
  EXPECT_GT(instant_tasks, kSchedules);  // the drawn schedules have such tasks
  EXPECT_GT(shared_tasks, kSchedules);
}

// With a stated rate of one, the engine takes another path through its code to the same times.
TEST(EngineOracleTest, NominalRatesGiveTheSameTimes) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Drawn drawn = Draw(seed);
    const Schedule schedule = Freeze(drawn, SameNames(drawn));
    const RateChange nominal[] = {{Duration::Nanoseconds(7), Lane(0), 1.0}};
    ASSERT_EQ(Engine().Run(schedule, drawn.durations, {.changes = nominal}).Fingerprint(),
              Engine().Run(schedule, drawn.durations).Fingerprint())
        << "seed " << seed;
  }
}

TEST(EngineOracleTest, NamesOfLanesDoNotMatter) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Drawn drawn = Draw(seed);
    Random random = Random(seed).Child("lane names", 0);
    std::vector<int> names = SameNames(drawn);
    for (int last = drawn.lanes - 1; last > 0; --last) {  // the shuffle of Fisher and Yates
      const int64_t other = random.Integer(0, last);
      std::swap(names[last], names[other]);
    }
    ASSERT_EQ(Engine().Run(Freeze(drawn, names), drawn.durations).Fingerprint(),
              Engine().Run(Freeze(drawn, SameNames(drawn)), drawn.durations).Fingerprint())
        << "seed " << seed;
  }
}

TEST(EngineOracleTest, ThriceTheDurationsGiveThriceTheTimes) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Drawn drawn = Draw(seed);
    const Schedule schedule = Freeze(drawn, SameNames(drawn));
    std::vector<Duration> thrice;
    for (const Duration duration : drawn.durations) thrice.push_back(3 * duration);
    const Timeline once = Engine().Run(schedule, drawn.durations);
    const Timeline scaled = Engine().Run(schedule, thrice);
    for (TaskId task = 0; task < once.task_count(); ++task) {
      ASSERT_EQ(scaled.start(task), 3 * once.start(task)) << "seed " << seed << " task " << task;
      ASSERT_EQ(scaled.end(task), 3 * once.end(task)) << "seed " << seed << " task " << task;
    }
  }
}

// The longest chain of dependencies, without regard to lanes.
Duration CriticalPath(const Drawn& drawn) {
  std::vector<Duration> ends = drawn.durations;
  for (const auto& [before, after] : drawn.dependencies) {  // ordered by `after`
    ends[after] = std::max(ends[after], ends[before] + drawn.durations[after]);
  }
  return *std::max_element(ends.begin(), ends.end());
}

TEST(EngineOracleTest, MakespanIsNoShorterThanItsLowerBounds) {
  for (uint64_t seed = 0; seed < kSchedules; ++seed) {
    const Drawn drawn = Draw(seed);
    const Timeline timeline = Engine().Run(Freeze(drawn, SameNames(drawn)), drawn.durations);
    std::vector<Duration> busy(drawn.lanes);
    for (size_t task = 0; task < drawn.lanes_of.size(); ++task) {
      for (const int lane : drawn.lanes_of[task]) busy[lane] += drawn.durations[task];
    }
    ASSERT_GE(timeline.makespan(), *std::max_element(busy.begin(), busy.end())) << "seed " << seed;
    ASSERT_GE(timeline.makespan(), CriticalPath(drawn)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stagecraft
