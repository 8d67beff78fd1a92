#include "runtime/measured_steps.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace stagecraft {
namespace {

// Executes steps of given durations. The first task ends after 10 us, the second at the end of the
// step.
class ToldExecutor : public Executor {
 public:
  explicit ToldExecutor(std::vector<Duration> steps) : steps_(std::move(steps)) {}
  Timeline Execute(const Schedule&) override {
    const Duration step = steps_[next_++];
    return Timeline({Duration(), 10_us}, {10_us, step});
  }

 private:
  std::vector<Duration> steps_;
  size_t next_ = 0;
};

Schedule TwoTasks() {
  Schedule::Builder builder;
  const Lane lane = builder.AddLane({});
  builder.Add(lane);
  builder.Add(lane);
  return builder.Build();
}

TEST(MeasureStepsTest, TheMedianStepStandsForAllThatCount) {
  ToldExecutor executor({900_us, 20_us, 50_us, 30_us});
  std::vector<int> done;
  const MeasuredSteps measured =
      MeasureSteps(executor, TwoTasks(), {{1}, {3}}, [&](int count) { done.push_back(count); });
  EXPECT_EQ(measured.timeline.makespan(), 30_us);
  EXPECT_EQ(measured.steps, (std::vector<Duration>{20_us, 50_us, 30_us}));
  EXPECT_EQ(done, (std::vector<int>{1, 2, 3, 4}));
  // The second task takes 10, 40 and 20 us: squared distances from 23.33 add up to 466.67.
  ASSERT_EQ(measured.task_sigma.size(), 2u);
  EXPECT_EQ(measured.task_sigma[0], Duration());
  EXPECT_NEAR(measured.task_sigma[1].us(), 15.275, 0.001);
}

TEST(MeasureStepsTest, OneStepTellsNothingAboutTheSpread) {
  ToldExecutor executor({20_us});
  const MeasuredSteps measured = MeasureSteps(executor, TwoTasks(), {{0}, {1}}, [](int) {});
  EXPECT_EQ(measured.timeline.makespan(), 20_us);
  EXPECT_TRUE(measured.task_sigma.empty());
}

TEST(MeasureStepsTest, StepsThatWereQueuedLateDoNotCount) {
  const auto measure = [](const std::vector<Duration>& late) {
    ToldExecutor executor({90_us, 20_us, 50_us, 30_us, 80_us});
    size_t asked = 0;
    const MeasuredSteps measured = MeasureSteps(
        executor, TwoTasks(), {{0}, {5}}, [](int) {},
        [&](size_t steps) {
          asked += steps;
          return late;
        });
    EXPECT_EQ(asked, 5u);
    EXPECT_EQ(measured.steps.size(), 5u);
    EXPECT_EQ(measured.queued_late, late);
    return measured;
  };
  const MeasuredSteps some = measure({0_us, 1_us, 0_us, 2_us, 0_us});
  EXPECT_EQ(some.timeline.makespan(), 80_us);
  // The steps that count take 80, 40 and 70 us: squared distances from 63.33 add up to 866.67.
  EXPECT_NEAR(some.task_sigma[1].us(), 20.817, 0.001);
  EXPECT_EQ(measure(std::vector<Duration>(5, 1_us)).timeline.makespan(), 50_us);
  const MeasuredSteps one = measure({1_us, 1_us, 1_us, 0_us, 1_us});
  EXPECT_EQ(one.timeline.makespan(), 30_us);
  EXPECT_TRUE(one.task_sigma.empty());
}

TEST(MeasureStepsTest, ShortStepsAreRepeatedUntilTheyHaveTakenTheWantedTime) {
  ToldExecutor executor({9_ms, 3_ms, 1_ms, 1_ms, 1_ms, 2_ms, 1_ms, 1_ms});
  const StepCounts counts = {.warm_up = {1, 10_ms}, .measured = {2, 5_ms}};
  int done = 0;
  const MeasuredSteps measured =
      MeasureSteps(executor, TwoTasks(), counts, [&](int count) { done = count; });
  EXPECT_EQ(measured.steps, (std::vector<Duration>{1_ms, 1_ms, 1_ms, 2_ms}));
  EXPECT_EQ(done, 6);
}

TEST(MeasureStepsTest, AHundredStepsAreEnough) {
  ToldExecutor executor(std::vector<Duration>(300, 20_us));
  const StepCounts counts = {.warm_up = {0}, .measured = {1, 1000_ms}};
  EXPECT_EQ(MeasureSteps(executor, TwoTasks(), counts, [](int) {}).steps.size(), 100u);
}

}  // namespace
}  // namespace stagecraft
