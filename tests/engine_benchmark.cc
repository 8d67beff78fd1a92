// Measures the rate of the engine alone, and of building and running a schedule.
//
// PP-PxM is 1F1B with P stages and M micro-batches: forwards take 10 ms and backwards 20 ms, each
// with a seeded jitter of +-10 %, and a message between stages takes about 1 ms. BM_Explain finds
// the critical path and the bubble of the timeline of such a schedule. "longest_path" is the
// baseline in the same process: one pass over the same graph in topological order, without events
// and without lanes for which tasks compete.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/analysis/bubble.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/task_waits.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

TimedSchedule BuildPipeline(int stages, int micro_batches) {
  UniformPipeline pipeline{{}, 1, micro_batches, 10_ms, 20_ms, 1_ms};
  for (int stage = 0; stage < stages; ++stage) {
    pipeline.orders.push_back(OneForwardOneBackwardOrder(stages - 1 - stage, micro_batches));
  }
  TimedSchedule timed = BuildUniformPipeline(pipeline);
  Random random(1);
  for (Duration& duration : timed.durations) {
    const double jitter = 0.9 + 0.2 * random.Uniform();
    duration = Duration::Seconds(duration.seconds() * jitter);
  }
  return timed;
}

void ReportTasks(benchmark::State& state, int tasks) {
  state.counters["tasks"] = tasks;
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(tasks) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void BM_Engine(benchmark::State& state) {
  const TimedSchedule timed =
      BuildPipeline(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  Engine engine;
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine.Run(timed.schedule, timed.durations).makespan());
  }
  ReportTasks(state, timed.schedule.task_count());
}
BENCHMARK(BM_Engine)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({16, 160})
    ->Args({51, 512})
    ->Args({512, 512})
    ->Unit(benchmark::kMillisecond);

void BM_BuildAndRun(benchmark::State& state) {
  int tasks = 0;
  for (auto _ : state) {
    const TimedSchedule timed =
        BuildPipeline(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    benchmark::DoNotOptimize(Engine().Run(timed.schedule, timed.durations).makespan());
    tasks = timed.schedule.task_count();
  }
  ReportTasks(state, tasks);
}
BENCHMARK(BM_BuildAndRun)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({16, 160})
    ->Args({51, 512})
    ->Args({512, 512})
    ->Unit(benchmark::kMillisecond);

void BM_Explain(benchmark::State& state) {
  const TimedSchedule timed =
      BuildPipeline(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const Timeline timeline = Engine().Run(timed.schedule, timed.durations);
  for (auto _ : state) {
    const TaskWaits waits(timed.schedule, timeline, nullptr);
    benchmark::DoNotOptimize(FindCriticalPath(timeline, waits).size());
    benchmark::DoNotOptimize(FindBubble(timed.schedule, timeline, waits, nullptr).waits.size());
  }
  ReportTasks(state, timed.schedule.task_count());
}
BENCHMARK(BM_Explain)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({16, 160})
    ->Args({512, 512})
    ->Unit(benchmark::kMillisecond);

// Finds the longest path by Kahn's algorithm over dependencies and the orders of lanes.
int64_t LongestPath(const TimedSchedule& timed, std::vector<int32_t>& waits,
                    std::vector<int64_t>& start, std::vector<TaskId>& queue) {
  const Schedule& schedule = timed.schedule;
  std::vector<int32_t> cursor(schedule.lane_count(), 0);
  start.assign(schedule.task_count(), 0);
  queue.clear();
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    waits[task] = schedule.predecessor_count(task) + 1;
  }
  const auto release = [&](TaskId task, int64_t time) {
    start[task] = std::max(start[task], time);
    if (--waits[task] == 0) queue.push_back(task);
  };
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    if (!schedule.order(Lane(lane)).empty()) release(schedule.order(Lane(lane))[0], 0);
  }
  int64_t makespan = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const TaskId task = queue[i];
    const int64_t end = start[task] + timed.durations[task].ns();
    makespan = std::max(makespan, end);
    for (const TaskId next : schedule.successors(task)) release(next, end);
    const Lane lane = schedule.lanes(task)[0];
    const auto order = schedule.order(lane);
    const size_t next = static_cast<size_t>(++cursor[Index(lane)]);
    if (next < order.size()) release(order[next], end);
  }
  return makespan;
}

void BM_LongestPath(benchmark::State& state) {
  const TimedSchedule timed =
      BuildPipeline(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  std::vector<int32_t> waits(timed.schedule.task_count());
  std::vector<int64_t> start;
  std::vector<TaskId> queue;
  for (auto _ : state) benchmark::DoNotOptimize(LongestPath(timed, waits, start, queue));
  ReportTasks(state, timed.schedule.task_count());
}
BENCHMARK(BM_LongestPath)
    ->ArgNames({"stages", "micro_batches"})
    ->Args({512, 512})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stagecraft
