#include "runtime/cuda/sensors.h"

#include <gtest/gtest.h>

#include "runtime/cuda/stand_in/board.h"

namespace stagecraft {
namespace {

DeviceState ReadWithout(const char* missing) {
  StandInBoard board;
  board.missing = {missing};
  UseStandIn(board);
  return Sensors("0000:1b:00.0").Read();
}

TEST(SensorsTest, AFunctionThatIsMissingLosesItsOwnReadingAlone) {
  EXPECT_GT(ReadWithout("nothing").clock_hz, 1e9);
  EXPECT_GT(ReadWithout("nothing").celsius, 0);
  EXPECT_GT(ReadWithout("nothing").watts, 0);
  EXPECT_EQ(ReadWithout("nvmlDeviceGetClockInfo").clock_hz, 0);
  EXPECT_GT(ReadWithout("nvmlDeviceGetClockInfo").celsius, 0);
  EXPECT_EQ(ReadWithout("nvmlDeviceGetTemperature").celsius, 0);
  EXPECT_GT(ReadWithout("nvmlDeviceGetTemperature").clock_hz, 1e9);
  EXPECT_EQ(ReadWithout("nvmlDeviceGetPowerUsage").watts, 0);
  EXPECT_GT(ReadWithout("nvmlDeviceGetPowerUsage").clock_hz, 1e9);
  EXPECT_GT(ReadWithout("nvmlDeviceGetCurrentClocksEventReasons").clock_hz, 1e9);
  EXPECT_GT(ReadWithout("nvmlDeviceGetCurrentClocksThrottleReasons").clock_hz, 1e9);
  EXPECT_EQ(ReadWithout("libnvidia-ml").clock_hz, 0);
}

}  // namespace
}  // namespace stagecraft
