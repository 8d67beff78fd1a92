#include "tools/report/circumstances.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "costmodel/units.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {
namespace {

Measurement StepsQueuedLateBy(std::vector<Duration> late) {
  Measurement measurement;
  measurement.executor = "cuda";
  measurement.steps.assign(late.size(), 5_ms);
  measurement.queued_late = std::move(late);
  return measurement;
}

TEST(CircumstancesTest, EveryRunSaysWhetherStepsWereQueuedInTime) {
  EXPECT_EQ(QueuedInWords({}), "");
  EXPECT_EQ(QueuedInWords(StepsQueuedLateBy({0_us})), "the host queued the step in time");
  EXPECT_EQ(QueuedInWords(StepsQueuedLateBy({0_us, 0_us, 0_us})),
            "the host queued all 3 steps in time");
  EXPECT_EQ(QueuedInWords(StepsQueuedLateBy({0_us, 3_ms, 0_us})),
            "the host queued 1 of 3 steps late: devices waited for it for up to 3.000 ms; it is "
            "left out of the median");
  EXPECT_EQ(
      QueuedInWords(StepsQueuedLateBy({1_ms, 3_ms, 0_us})),
      "the host queued 2 of 3 steps late: devices waited for it for up to 3.000 ms; they are left "
      "out of the median");
  EXPECT_EQ(QueuedInWords(StepsQueuedLateBy({1_ms, 3_ms, 2_ms})),
            "the host queued all 3 steps late: devices waited for it for up to 3.000 ms, and there "
            "is no median of steps queued in time");
}

TEST(CircumstancesTest, StepsThatWereQueuedLateCountOnlyWhereAllWere) {
  Measurement measurement = StepsQueuedLateBy({1_ms, 0_us, 2_ms});
  measurement.steps = {5_ms, 7_ms, 9_ms};
  EXPECT_EQ(CountedSteps(measurement), std::vector<Duration>{7_ms});
  EXPECT_TRUE(HasMedian(measurement));
  measurement.queued_late[1] = 1_us;
  EXPECT_EQ(CountedSteps(measurement), measurement.steps);
  EXPECT_FALSE(HasMedian(measurement));
  measurement.queued_late.clear();
  EXPECT_EQ(CountedSteps(measurement), measurement.steps);
  EXPECT_TRUE(HasMedian(measurement));
}

TEST(CircumstancesTest, ASensorThatCouldNotBeReadIsNotZero) {
  const GpuReadings read = {.clock_hz = 1.7e9,
                            .least_clock_hz = 1.6e9,
                            .watts = 410,
                            .most_watts = 430,
                            .most_celsius = 61,
                            .throttled = 0};
  std::ostringstream out;
  PrintGpus(std::vector<GpuReadings>{read, read, {}}, "", out);
  EXPECT_EQ(out.str(),
            "ranks     clock  min clock     power  max power  max temperature  throttled\n"
            "0-1    1700 MHz   1600 MHz     410 W      430 W             61 C        0 %\n"
            "2      not read   not read  not read   not read         not read   not read\n");
}

TEST(CircumstancesTest, JsonHasWhatIsKnownAndNullForTheRest) {
  nlohmann::ordered_json nothing;
  AddCircumstances({}, &nothing);
  EXPECT_TRUE(nothing.is_null());

  Measurement measurement = StepsQueuedLateBy({1_ms, 3_ms});
  measurement.gpus = {{.clock_hz = 1.5e9, .throttled = 0.5}, {}};
  nlohmann::ordered_json json;
  AddCircumstances(measurement, &json);
  EXPECT_EQ(json["late_steps"], 2);
  EXPECT_EQ(json["queued_late_ms"], (std::vector<double>{1, 3}));
  EXPECT_EQ(json["step_time_is_median"], false);
  EXPECT_EQ(json["boards"][0]["clock_mhz"], 1500);
  EXPECT_EQ(json["boards"][0]["throttled"], 0.5);
  EXPECT_TRUE(json["boards"][0]["watts"].is_null());
  EXPECT_TRUE(json["boards"][1]["throttled"].is_null());
}

}  // namespace
}  // namespace stagecraft
