#include "runtime/profile/measuring.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/profile/fake_timer.h"

namespace stagecraft {
namespace {

const ProfileCase kCase{Op::Gemm(DType::kBf16, 8, 8, 8), "linear"};

FakeOp OpOf(FakeTime time) { return FakeOp(kCase, std::move(time), nullptr); }

TEST(MeasuringTest, AnOpThatAlwaysTakesAsLongIsKnownAfterTheLeastBatches) {
  FakeOp op = OpOf([](const ProfileCase&, int) { return 10_us; });
  const OpMeasurement measured = Measure(op, MeasuringRules());
  EXPECT_EQ(measured.time, 10_us);
  EXPECT_NEAR(measured.spread, 0, 1e-12);
  EXPECT_EQ(measured.batches, 5);
  EXPECT_TRUE(measured.reached_goal);
  // Calls of 10 us fill a batch of 500 us.
  EXPECT_EQ(op.calls_of_batches.back(), 50);
}

TEST(MeasuringTest, TheFirstCallsAreNotCounted) {
  // The calls of the warm-up, which lasts 3 ms, are slow: one of 2 ms, one of 1 ms.
  FakeOp op = OpOf([](const ProfileCase&, int batch) {
    return batch == 0 ? 2_ms : batch == 1 ? 1_ms : 400_us;
  });
  EXPECT_EQ(Measure(op, MeasuringRules()).time, 400_us);
}

// With calls of 3 us the 3 ms of warm-up are ten calls, each of which takes 300 us more.
TEST(MeasuringTest, ShortCallsWarmUpForNoLongerThanOthers) {
  FakeOp op = OpOf([](const ProfileCase&, int) { return 3_us; });
  Measure(op, MeasuringRules());
  EXPECT_EQ(std::count(op.calls_of_batches.begin(), op.calls_of_batches.end(), 1), 10);
}

TEST(MeasuringTest, OneSlowBatchDoesNotMoveTheMedian) {
  FakeOp op = OpOf([](const ProfileCase&, int batch) { return batch % 5 == 4 ? 9_ms : 1_ms; });
  const OpMeasurement measured = Measure(op, MeasuringRules());
  EXPECT_EQ(measured.time, 1_ms);
  EXPECT_GT(measured.spread, 0.5);
}

TEST(MeasuringTest, OnAHostSlowBatchesCount) {
  Device host;
  host.generation = Generation::kHost;
  MeasuringRules rules = RulesFor(host);
  rules.least_batches = 4;
  rules.limit = 1_ms;
  FakeOp op = OpOf([](const ProfileCase&, int batch) { return batch % 4 == 3 ? 5_ms : 1_ms; });
  EXPECT_EQ(Measure(op, rules).time, 2_ms);
}

TEST(MeasuringTest, WhatVariesIsMeasuredUntilItsMedianIsKnown) {
  // The times vary by +-5 %, a sigma of 0.05, and 1.2533 x 0.05 / sqrt(n) <= 0.02 if n >= 9.9.
  MeasuringRules rules;
  rules.goal = 0.02;
  FakeOp op = OpOf([](const ProfileCase&, int batch) { return batch % 2 == 0 ? 950_us : 1050_us; });
  const OpMeasurement measured = Measure(op, rules);
  EXPECT_TRUE(measured.reached_goal);
  EXPECT_GE(measured.batches, 10);
  EXPECT_LE(measured.batches, 13);
  EXPECT_NEAR(measured.spread, 0.05, 0.005);
}

TEST(MeasuringTest, WhatNeverSettlesEndsAtALimit) {
  const FakeTime wild = [](const ProfileCase&, int batch) { return batch % 2 == 0 ? 1_ms : 3_ms; };
  FakeOp by_time = OpOf(wild);
  const OpMeasurement limited = Measure(by_time, MeasuringRules());
  EXPECT_FALSE(limited.reached_goal);
  EXPECT_EQ(limited.batches, 16);  // 1 + 3 + 1 + ... ms exceed 30 ms

  MeasuringRules rules;
  rules.limit = 1000000_ms;
  rules.most_batches = 21;
  FakeOp by_count = OpOf(wild);
  EXPECT_EQ(Measure(by_count, rules).batches, 21);
}

TEST(MeasuringTest, ALongOpIsMeasuredTheLeastTimesBeyondAnyLimit) {
  FakeOp op = OpOf([](const ProfileCase&, int) { return 200_ms; });
  const OpMeasurement measured = Measure(op, MeasuringRules());
  EXPECT_EQ(measured.batches, 5);
  EXPECT_EQ(op.calls_of_batches, std::vector<int>(6, 1));  // five batches and one call to warm up
}

TEST(MeasuringTest, NoMeasurementTakesLongerThanItsBound) {
  Device host;
  host.generation = Generation::kHost;
  for (const MeasuringRules& rules : {MeasuringRules(), RulesFor(host)}) {
    for (const Duration call : {1_us, 2_us, 17_us, 400_us, 900_us, 7_ms, 90_ms}) {
      FakeClock clock;
      const FakeTime time = [&](const ProfileCase&, int batch) {
        clock.now += rules.beside_calls;
        return batch % 2 == 0 ? call : 2 * call;
      };
      FakeOp op(kCase, time, &clock);
      for (int turn = 0; turn < rules.turns; ++turn) Measure(op, rules);
      const Duration last_batches = rules.turns * std::max(2 * call, 2 * rules.batch);
      EXPECT_LE(clock.now, LongestMeasuring(2 * call, rules) + last_batches) << call.us() << " us";
    }
  }
}

}  // namespace
}  // namespace stagecraft
