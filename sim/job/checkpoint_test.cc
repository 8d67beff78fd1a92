#include "sim/job/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stagecraft {
namespace {

Duration Seconds(double seconds) { return Duration::Seconds(seconds); }

struct Interval {
  double write, mtbf, best, young;  // All are in s.
};

TEST(CheckpointTest, IntervalsAreThoseOfTheirFormulas) {
  for (const Interval& want : {Interval{60, 11000, 1109.3, 1148.9},
                               {30, 3600, 445.0, 464.8},
                               {120, 7200, 1235.8, 1314.5}}) {
    const Duration write = Seconds(want.write);
    const Duration mtbf = Seconds(want.mtbf);
    EXPECT_NEAR(BestCheckpointInterval(write, mtbf).seconds(), want.best, 0.1);
    EXPECT_NEAR(YoungCheckpointInterval(write, mtbf).seconds(), want.young, 0.1);
  }
}

TEST(CheckpointTest, NoOtherIntervalIsBetterThanTheBest) {
  for (const double write : {1e-3, 1.0, 60.0, 600.0}) {
    const Duration mtbf = Seconds(3600);
    const Duration best = BestCheckpointInterval(Seconds(write), mtbf);
    const auto time = [&](double factor) {
      return ExpectedRunTime(Seconds(1e5), Seconds(best.seconds() * factor), Seconds(write),
                             Seconds(30), mtbf)
          .seconds();
    };
    EXPECT_LT(time(1), time(1.01));
    EXPECT_LT(time(1), time(0.99));
  }
}

// A write that is tiny beside the time between failures: where W takes over from its series, both
// have the same value, and far below Young's interval is the limit.
TEST(CheckpointTest, TheIntervalIsExactForTinyWrites) {
  const Duration mtbf = Seconds(1e9);
  const double below = BestCheckpointInterval(Seconds(999.999), mtbf).seconds();
  const double above = BestCheckpointInterval(Seconds(1000.001), mtbf).seconds();
  EXPECT_NEAR(above / below, std::sqrt(1000.001 / 999.999), 1e-8);
  EXPECT_NEAR(BestCheckpointInterval(Seconds(1e-6), mtbf).seconds(),
              YoungCheckpointInterval(Seconds(1e-6), mtbf).seconds(), 1e-4);
}

TEST(CheckpointTest, ARunWithoutFailuresTakesItsWorkAndItsCheckpoints) {
  EXPECT_NEAR(ExpectedRunTime(Seconds(1000), Seconds(100), Seconds(5), Seconds(60), Seconds(1e12))
                  .seconds(),
              1050, 1e-3);
}

}  // namespace
}  // namespace stagecraft
