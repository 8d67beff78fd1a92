#include "runtime/measured_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "costmodel/check.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {
namespace {

constexpr int kMostSteps = 100;

// Returns the standard deviation of one task's duration over these steps, by Welford's method,
// which loses no digits if durations are long and nearly equal.
Duration SigmaOf(const std::vector<Timeline>& timelines, const std::vector<int>& steps,
                 TaskId task) {
  double mean = 0, squares = 0, count = 0;
  for (const int step : steps) {
    const auto own =
        static_cast<double>((timelines[step].end(task) - timelines[step].start(task)).ns());
    const double delta = own - mean;
    mean += delta / ++count;
    squares += delta * (own - mean);
  }
  return Duration::RoundedNanoseconds(std::sqrt(squares / (count - 1)));
}

}  // namespace

MeasuredSteps SumUp(const Schedule& schedule, std::vector<Timeline> timelines,
                    std::vector<Duration> queued_late) {
  CHECK(!timelines.empty());
  MeasuredSteps measured;
  for (const Timeline& timeline : timelines) measured.steps.push_back(timeline.makespan());
  measured.queued_late = std::move(queued_late);
  CHECK(measured.queued_late.empty() || measured.queued_late.size() == timelines.size());
  std::vector<int> counting = CountingSteps(timelines.size(), measured.queued_late);
  if (counting.size() > 1) {
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      measured.task_sigma.push_back(SigmaOf(timelines, counting, task));
    }
  }
  const auto median = counting.begin() + (std::ssize(counting) - 1) / 2;
  std::nth_element(counting.begin(), median, counting.end(), [&](int a, int b) {
    return std::pair(measured.steps[a], a) < std::pair(measured.steps[b], b);
  });
  measured.timeline = std::move(timelines[*median]);
  return measured;
}

MeasuredSteps MeasureSteps(Executor& executor, const Schedule& schedule, const StepCounts& counts,
                           const std::function<void(int done)>& progress,
                           const LateBySteps& late_by) {
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
  const size_t steps = timelines.size();
  return SumUp(schedule, std::move(timelines), late_by ? late_by(steps) : std::vector<Duration>());
}

}  // namespace stagecraft
