#include "runtime/cuda/sensors.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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
  EXPECT_EQ(ReadWithout("libnvidia-ml").clock_hz, 0);
}

TEST(SensorsTest, SayWhatTheBoardSays) {
  for (const int watts : {0, 250}) {
    StandInBoard board;
    board.watts = watts;
    UseStandIn(board);
    EXPECT_EQ(Sensors("0000:1b:00.0").Read().watts, watts);
  }
}

// The driver has either name of the function that tells, both, or none.
TEST(SensorsTest, HeatIsToldByEitherNameOfItsFunction) {
  const std::string event = "nvmlDeviceGetCurrentClocksEventReasons";
  const std::string throttle = "nvmlDeviceGetCurrentClocksThrottleReasons";
  for (const bool is_throttled : {false, true}) {
    for (const std::set<std::string>& missing :
         {std::set<std::string>{}, {event}, {throttle}, {event, throttle}}) {
      StandInBoard board;
      board.is_throttled = is_throttled;
      board.missing = missing;
      UseStandIn(board);
      const DeviceState state = Sensors("0000:1b:00.0").Read();
      EXPECT_EQ(state.is_throttled, is_throttled && missing.size() < 2) << missing.size();
      EXPECT_GT(state.clock_hz, 1e9);
    }
  }
}

}  // namespace
}  // namespace stagecraft
