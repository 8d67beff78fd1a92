#include "runtime/cuda/sensors.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

DeviceState ReadWithout(const char* missing) {
  StandInGpu gpu;
  gpu.missing = {missing};
  UseStandIn(gpu);
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

TEST(SensorsTest, SayWhatTheGpuSays) {
  for (const int watts : {0, 250}) {
    StandInGpu gpu;
    gpu.watts = watts;
    UseStandIn(gpu);
    EXPECT_EQ(Sensors("0000:1b:00.0").Read().watts, watts);
  }
}

// A driver has the function under either name, under both, or not at all: then nothing is known,
// which differs from a GPU that is known to be cool.
TEST(SensorsTest, HeatIsToldByEitherNameOfItsFunction) {
  const std::string event = "nvmlDeviceGetCurrentClocksEventReasons";
  const std::string throttle = "nvmlDeviceGetCurrentClocksThrottleReasons";
  for (const bool is_throttled : {false, true}) {
    for (const std::set<std::string>& missing :
         {std::set<std::string>{}, {event}, {throttle}, {event, throttle}}) {
      StandInGpu gpu;
      gpu.is_throttled = is_throttled;
      gpu.missing = missing;
      UseStandIn(gpu);
      const DeviceState state = Sensors("0000:1b:00.0").Read();
      const std::optional<bool> told =
          missing.size() < 2 ? std::optional<bool>(is_throttled) : std::nullopt;
      EXPECT_EQ(state.is_throttled, told) << missing.size();
      EXPECT_GT(state.clock_hz, 1e9);
    }
  }
}

}  // namespace
}  // namespace stagecraft
