#include "runtime/cuda/gpu_readings.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(GpuReadingsTest, AreMediansAndExtremesOfWhatSensorsGave) {
  const GpuReadings readings =
      Summarize({{.clock_hz = 1.8e9, .celsius = 50, .watts = 300, .is_throttled = false},
                 {.clock_hz = 1.2e9, .celsius = 70, .watts = 700, .is_throttled = true},
                 {.clock_hz = 1.7e9, .celsius = 60, .watts = 0, .is_throttled = false},
                 {.is_throttled = false},
                 {}});
  EXPECT_EQ(readings, (GpuReadings{.clock_hz = 1.7e9,
                                   .least_clock_hz = 1.2e9,
                                   .watts = 500,
                                   .most_watts = 700,
                                   .most_celsius = 70,
                                   .throttled = 0.25}));
}

TEST(GpuReadingsTest, AGpuWithoutSensorsHasNone) {
  EXPECT_EQ(Summarize({{}, {}}), GpuReadings());
  EXPECT_EQ(Summarize({}), GpuReadings());
}

}  // namespace
}  // namespace stagecraft
