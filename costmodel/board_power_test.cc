#include "costmodel/board_power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "costmodel/device_catalogue.h"

namespace stagecraft {
namespace {

Device GpuNamed(const char* id) { return DeviceCatalogue::Embedded().Get(id, "test").device; }

TEST(BoardPowerTest, NoClockExceedsTheBoostClock) {
  for (const DeviceEntry& entry : DeviceCatalogue::Embedded().entries()) {
    for (int type = 0; type < kDTypeCount; ++type) {
      const auto dtype = static_cast<DType>(type);
      if (entry.device.Peak(dtype).flop_per_s() <= 0) continue;
      const PoweredClocks clocks = ClocksOf(AsSampled(entry.device), dtype);
      EXPECT_EQ(ClocksWithPauses(entry.device, dtype).at_once, clocks.at_once) << entry.device.id;
      EXPECT_EQ(ClocksWithPauses(entry.device, dtype).sustained, clocks.sustained)
          << entry.device.id;
      EXPECT_EQ(ClocksOf(entry.device, dtype).at_once, clocks.sustained) << entry.device.id;
      EXPECT_EQ(ClocksOf(entry.device, dtype).sustained, clocks.sustained) << entry.device.id;
      EXPECT_LE(clocks.at_once, entry.device.boost_clock_hz) << entry.device.id;
      EXPECT_LE(clocks.sustained, clocks.at_once) << entry.device.id;
      EXPECT_GT(clocks.sustained, 0.2 * entry.device.boost_clock_hz) << entry.device.id;
    }
  }
}

TEST(BoardPowerTest, MorePowerOrLessEnergyNeverLowersTheClock) {
  Device device = GpuNamed("h100-sxm");
  double last = 0;
  for (double watts = 20; watts < 3000; watts *= 1.1) {
    device.power_w = watts;
    const double clock = ClocksOf(device, DType::kBf16).sustained;
    EXPECT_GE(clock, last) << watts;
    EXPECT_GE(ClocksOf(device, DType::kBf16, 0.8).sustained, clock) << watts;
    last = clock;
  }
  EXPECT_EQ(last, device.boost_clock_hz);
}

// On an H100, 171 of 700 W do not compute; long kernels take the rest.
TEST(BoardPowerTest, TheSustainedClockTakesTheBoardsPower) {
  const Device device = GpuNamed("h100-sxm");
  const double clock = ClocksOf(device, DType::kBf16).sustained;
  const double still = 20 + 45e-12 * 3.35e12;
  EXPECT_NEAR(3.7e-4 * 132 * 4096 * std::pow(clock / 1e9, 2.25), 700 - still, 1e-6);
}

TEST(BoardPowerTest, WorkSlowsDownSmoothlyAndNeverTakesLess) {
  const PoweredClocks clocks{2e9, 1.6e9};
  EXPECT_NEAR(clocks.Slowed(1e-6), 1e-6, 1e-12);
  EXPECT_NEAR(clocks.Slowed(1), 1.25, 1e-5);
  EXPECT_NEAR(clocks.Slowed(kSettlingSeconds), kSettlingSeconds * std::sqrt(1.25), 1e-9);
  double last = 0;
  for (double seconds = 1e-6; seconds < 1; seconds *= 1.01) {
    EXPECT_GT(clocks.Slowed(seconds), last);
    last = clocks.Slowed(seconds);
  }
}

// 989 TFLOP/s are those of 1.83 GHz, not of the boost clock, but tensor cores have 4,096 all the
// same.
TEST(BoardPowerTest, TensorCoresHaveAPowerOfTwo) {
  EXPECT_EQ(FlopPerClock(GpuNamed("h100-sxm"), DType::kBf16), 132 * 4096);
  EXPECT_EQ(FlopPerClock(GpuNamed("b200"), DType::kFp8), 148 * 16384);
  EXPECT_EQ(FlopPerClock(GpuNamed("rtx4090"), DType::kBf16), 128 * 512);
}

TEST(BoardPowerTest, AShareOfThePowerGivesAShareOfTheClock) {
  Device device = GpuNamed("h200");
  const PoweredClocks whole = ClocksOf(device, DType::kBf16);
  device.power_w = PowerAtClockShare(device, 0.8);
  const PoweredClocks part = ClocksOf(device, DType::kBf16);
  EXPECT_NEAR(part.sustained / whole.sustained, 0.8, 1e-9);
  EXPECT_NEAR(part.at_once / whole.at_once, 0.8, 1e-9);
}

TEST(BoardPowerTest, NothingIsKnownOfOtherVendorsOrWithoutPower) {
  Device device = GpuNamed("h100-sxm");
  device.power_w = 0;
  EXPECT_EQ(ClocksOf(device, DType::kBf16).sustained, device.boost_clock_hz);
  device = GpuNamed("mi300x");
  const PoweredClocks measured = ClocksOf(device, DType::kBf16);
  EXPECT_NEAR(measured.sustained / device.boost_clock_hz, device.sustained_fraction / 0.85, 1e-3);
  EXPECT_EQ(measured.at_once, measured.sustained);
  device.sustained_fraction = 0;
  EXPECT_EQ(ClocksOf(device, DType::kBf16).sustained, device.boost_clock_hz);
}

// A tenth less is measured: all kernels are a tenth slower, whatever power would say.
TEST(BoardPowerTest, AMeasuredRateCountsBeforePower) {
  Device device = AsSampled(GpuNamed("h100-sxm"));
  device.sustained_fraction = 0.7;
  const PoweredClocks before = ClocksOf(device, DType::kBf16);
  device.sustained_fraction = 0.63;
  const PoweredClocks after = ClocksOf(device, DType::kBf16);
  EXPECT_NEAR(after.sustained / before.sustained, 0.9, 1e-9);
  EXPECT_NEAR(after.at_once / before.at_once, 0.9, 1e-9);
  EXPECT_GT(after.at_once, after.sustained);
}

TEST(BoardPowerTest, TheClockOfTrainingIsThatOfLongKernels) {
  Device device = GpuNamed("h100-sxm");
  const double share = ClocksOf(AsSampled(device), DType::kBf16).sustained / device.boost_clock_hz;
  EXPECT_NEAR(SustainedClock(device), share, 1e-12);
  EXPECT_LT(share, 0.9);
  device.clock_share = 0.5;
  EXPECT_NEAR(SustainedClock(device), 0.5 * share, 1e-12);
  EXPECT_NEAR(SustainedFraction(device), SustainedFraction(AsSampled(device)), 1e-12);
}

TEST(BoardPowerTest, FewerMultiprocessorsRunAtAHigherClock) {
  const Device limited = GpuNamed("h100-sxm");
  EXPECT_EQ(ClockGain(limited, 1), 1);
  EXPECT_NEAR(ClockGain(limited, 0.8), std::pow(0.8, -1 / 2.25), 1e-12);
  const double most = 1 / (SustainedClock(limited));
  EXPECT_NEAR(ClockGain(limited, 0.1), most, 1e-12);  // the boost clock
  Device free = limited;
  free.power_w = 5000;
  free.sustained_fraction = 0;
  EXPECT_EQ(ClockGain(free, 0.5), 1);
}

TEST(BoardPowerTest, KeplerIssuesForTwoThirdsOfItsLanes) {
  EXPECT_NEAR(IssuedShare(Generation::kKepler), 2.0 / 3, 1e-12);
  EXPECT_EQ(IssuedShare(Generation::kPascal), 1);
}

// Published tables of the best GEMMs give 0.80 and 0.78.
TEST(BoardPowerTest, TheDerivedShareIsNearWhatIsMeasured) {
  EXPECT_NEAR(SustainedFraction(GpuNamed("h100-sxm")), 0.80, 0.05);
  EXPECT_NEAR(SustainedFraction(GpuNamed("b200")), 0.78, 0.1);
}

}  // namespace
}  // namespace stagecraft
