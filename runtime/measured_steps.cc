#include "runtime/measured_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int kMostSteps = 100;

// Of one task over all timelines; Welford's sums need no second look at large numbers.
Duration SigmaOf(const std::vector<Timeline>& timelines, TaskId task) {
  double mean = 0, squares = 0, count = 0;
  for (const Timeline& timeline : timelines) {
    const auto own = static_cast<double>((timeline.end(task) - timeline.start(task)).ns());
    const double delta = own - mean;
    mean += delta / ++count;
    squares += delta * (own - mean);
  }
  return Duration::RoundedNanoseconds(std::sqrt(squares / (count - 1)));
}

}  // namespace

MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress) {
  CHECK(counts.measured.least >= 1);
  int done = 0;
  const auto execute = [&](const StepCount& count, const auto& keep) {
    Duration spent;
    for (int i = 0; i < count.least || (i < kMostSteps && spent < count.time); ++i) {
      Timeline timeline = executor.Execute(schedule);
      spent += timeline.makespan();
      keep(std::move(timeline));
      progress(++done);
    }
  };
  execute(counts.warm_up, [](const Timeline&) {});
  std::vector<Timeline> timelines;
  execute(counts.measured, [&](Timeline timeline) { timelines.push_back(std::move(timeline)); });
  const auto steps = static_cast<int>(timelines.size());
  MeasuredSteps measured;
  for (const Timeline& timeline : timelines) measured.steps.push_back(timeline.makespan());
  if (steps > 1) {
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      measured.task_sigma.push_back(SigmaOf(timelines, task));
    }
  }
  std::vector<int> order(steps);
  std::iota(order.begin(), order.end(), 0);
  const auto median = order.begin() + (steps - 1) / 2;
  std::nth_element(order.begin(), median, order.end(), [&](int a, int b) {
    return std::pair(measured.steps[a], a) < std::pair(measured.steps[b], b);
  });
  measured.timeline = std::move(timelines[*median]);
  return measured;
}

}  // namespace stagecraft
