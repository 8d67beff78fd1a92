#include "runtime/profile/op_timer.h"

#include <gtest/gtest.h>

#include <optional>

namespace stagecraft {
namespace {

TEST(DeviceStateTest, DevicesTogetherAreAsSlowAndAsHotAsTheWorstOfThem) {
  const DeviceState both = Together({.clock_hz = 1.8e9, .celsius = 50, .watts = 700},
                                    {.clock_hz = 1.2e9, .celsius = 70, .watts = 300});
  EXPECT_EQ(both.clock_hz, 1.2e9);
  EXPECT_EQ(both.celsius, 70);
  EXPECT_EQ(both.watts, 700);
  EXPECT_EQ(Together({.clock_hz = 1.8e9}, {}).clock_hz, 0);
  EXPECT_EQ(Together({}, {.watts = 300}).watts, 300);
}

TEST(DeviceStateTest, DevicesTogetherAreThrottledWhereAnyIsAndCoolWhereAllAreKnownToBe) {
  const std::optional<bool> unknown, cool = false, hot = true;
  const auto together = [](std::optional<bool> a, std::optional<bool> b) {
    return Together({.is_throttled = a}, {.is_throttled = b}).is_throttled;
  };
  for (const std::optional<bool> other : {unknown, cool, hot}) {
    EXPECT_EQ(together(hot, other), hot);
    EXPECT_EQ(together(other, hot), hot);
    EXPECT_EQ(together(cool, other), other);
    EXPECT_EQ(together(other, cool), other);
  }
  EXPECT_EQ(together(unknown, unknown), unknown);
}

}  // namespace
}  // namespace stagecraft
