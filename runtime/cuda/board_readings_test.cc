#include "runtime/cuda/board_readings.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(BoardReadingsTest, AreMediansAndExtremesOfWhatSensorsGave) {
  const BoardReadings readings =
      Summarize({{.clock_hz = 1.8e9, .celsius = 50, .watts = 300, .is_throttled = false},
                 {.clock_hz = 1.2e9, .celsius = 70, .watts = 700, .is_throttled = true},
                 {.clock_hz = 1.7e9, .celsius = 60, .watts = 0, .is_throttled = false},
                 {.is_throttled = false},
                 {}});
  EXPECT_EQ(readings, (BoardReadings{.clock_hz = 1.7e9,
                                     .least_clock_hz = 1.2e9,
                                     .watts = 500,
                                     .most_watts = 700,
                                     .most_celsius = 70,
                                     .throttled = 0.25}));
}

TEST(BoardReadingsTest, ABoardWithoutSensorsHasNone) {
  EXPECT_EQ(Summarize({{}, {}}), BoardReadings());
  EXPECT_EQ(Summarize({}), BoardReadings());
}

}  // namespace
}  // namespace stagecraft
