#include "runtime/profile/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_set>

#include "runtime/profile/fake_timer.h"

namespace stagecraft {
namespace {

std::vector<ProfileCase> Products(int count) {
  std::vector<ProfileCase> cases;
  for (int i = 1; i <= count; ++i) cases.push_back({Op::Gemm(DType::kBf16, i, 8, 8), "linear"});
  return cases;
}

Duration TimeOf(const ProfileCase& one, int) { return one.op.m * 10_us; }

class ProfilerTest : public ::testing::Test {
 protected:
  ProfilerTest() {
    options_.gpu = "h200";
    options_.source = "test";
  }

  ProfileOutcome Run(std::span<const ProfileCase> suite) {
    return RunProfiler(
        suite, done_, timer_, options_, clock_,
        [this](const Sample& sample) {
          samples_.push_back(sample);
          done_.insert({sample.op, sample.name});
          if (kept_until_killed_ > 0 && --kept_until_killed_ == 0) throw std::runtime_error("kill");
        },
        [this](const ProfileProgress& progress) { shown_.push_back(progress.done); });
  }

  FakeClock clock_;
  FakeTimer timer_{TimeOf, &clock_};
  ProfilerOptions options_;
  std::unordered_set<ProfileCase> done_;
  std::vector<Sample> samples_;
  std::vector<size_t> shown_;
  int kept_until_killed_ = 0;
};

TEST_F(ProfilerTest, EveryCaseBecomesASample) {
  const ProfileOutcome outcome = Run(Products(3));
  EXPECT_EQ(outcome.measured, 3u);
  EXPECT_EQ(outcome.left, 0u);
  ASSERT_EQ(samples_.size(), 3u);
  EXPECT_EQ(shown_, (std::vector<size_t>{0, 1, 2}));
  for (const Sample& sample : samples_) {
    EXPECT_EQ(sample.time, sample.op.m * 10_us);
    EXPECT_EQ(sample.gpu, "h200");
    EXPECT_EQ(sample.name, "linear");
    EXPECT_EQ(sample.software, "fake 1.0");
    EXPECT_EQ(sample.source, "test");
    EXPECT_EQ(sample.clock_hz, 1.5e9);
    EXPECT_EQ(sample.watts, 410);
    EXPECT_EQ(sample.repeats, 5);
  }
}

// If the device lacks one format, that does not mean that it runs no GEMMs.
TEST_F(ProfilerTest, AKindOfOpRunsWhereAnyCaseOfItDoes) {
  std::vector<ProfileCase> suite = Products(2);
  suite.push_back({Op::Gemm(DType::kFp8, 8, 8, 8), "linear"});
  suite.push_back({Op::Attention(DType::kFp8, Direction::kForward, 8, 8, 8, 8, true), "attention"});
  const std::map<OpKind, bool> runs = {{OpKind::kGemm, true}, {OpKind::kAttention, false}};
  EXPECT_EQ(Run(suite).runs, runs);
  // The second run counts what the first has measured.
  EXPECT_EQ(Run(suite).runs, runs);
  done_.insert(suite.back());
  EXPECT_TRUE(Run(suite).runs.at(OpKind::kAttention));
}

TEST_F(ProfilerTest, TheSeedDecidesTheOrder) {
  Run(Products(20));
  const std::vector<ProfileCase> first = timer_.prepared;
  EXPECT_NE(first, Products(20));
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), Products(20).begin()));
  done_.clear();
  timer_.prepared.clear();
  Run(Products(20));
  EXPECT_EQ(timer_.prepared, first);
  done_.clear();
  timer_.prepared.clear();
  options_.seed = 2;
  Run(Products(20));
  EXPECT_NE(timer_.prepared, first);
}

TEST_F(ProfilerTest, WhatIsDoneIsNotMeasuredAgain) {
  const std::vector<ProfileCase> suite = Products(10);
  Run(std::span(suite).first(4));
  timer_.prepared.clear();
  const ProfileOutcome outcome = Run(suite);
  EXPECT_EQ(outcome.already, 4u);
  EXPECT_EQ(outcome.measured, 6u);
  EXPECT_EQ(timer_.prepared.size(), 6u);
  for (const ProfileCase& one : timer_.prepared) EXPECT_GT(one.op.m, 4);
}

TEST_F(ProfilerTest, AKilledRunLosesNothingThatItKept) {
  kept_until_killed_ = 4;
  EXPECT_THROW(Run(Products(10)), std::runtime_error);
  const ProfileOutcome outcome = Run(Products(10));
  EXPECT_EQ(outcome.already, 4u);
  EXPECT_EQ(samples_.size(), 10u);
  EXPECT_EQ(done_.size(), 10u);
}

TEST_F(ProfilerTest, SlicesOfABudgetMakeTheWholeSuite) {
  const std::vector<ProfileCase> suite = Products(30);
  size_t left = suite.size();
  int slices = 0;
  for (; left > 0 && slices < 100; ++slices) {
    options_.budget = clock_.now + 20_ms;
    const size_t before = samples_.size();
    left = Run(suite).left;
    EXPECT_GT(samples_.size(), before);
    EXPECT_EQ(samples_.size() + left, suite.size());
  }
  EXPECT_GT(slices, 2);
  EXPECT_EQ(samples_.size(), suite.size());
  EXPECT_EQ(timer_.prepared.size(), suite.size());
}

// Each op takes 2 ms in its first turn and 4 ms in its second, which makes 3 ms.
TEST_F(ProfilerTest, OpsTakeTurnsAndTheirTimesAreMeans) {
  options_.rules.turns = 2;
  options_.rules.ops_in_turn = 3;
  std::vector<ProfileCase> seen;
  timer_ = FakeTimer(
      [&](const ProfileCase& one, int batch) {
        if (batch == 0) seen.push_back(one);
        return std::count(seen.begin(), seen.end(), one) * 2_ms;
      },
      &clock_);
  EXPECT_EQ(Run(Products(5)).measured, 5u);
  ASSERT_EQ(timer_.prepared.size(), 10u);
  const auto prepared = [&](int first, int count) {
    return std::vector(timer_.prepared.begin() + first, timer_.prepared.begin() + first + count);
  };
  EXPECT_EQ(prepared(0, 3), prepared(3, 3));
  EXPECT_EQ(prepared(6, 2), prepared(8, 2));
  for (const Sample& sample : samples_) {
    EXPECT_EQ(sample.time, 3_ms);
    EXPECT_EQ(sample.repeats, 10);
    EXPECT_NEAR(sample.spread, std::log(2) / std::sqrt(2), 1e-9);  // sigma of two logarithms
  }
  EXPECT_EQ(shown_, (std::vector<size_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST_F(ProfilerTest, ABudgetLeavesOpsTheTurnsThatTheyHad) {
  options_.rules.turns = 1000;
  options_.rules.ops_in_turn = 2;
  options_.budget = 30_ms;
  const ProfileOutcome outcome = Run(Products(3));
  EXPECT_EQ(outcome.measured, 2u);
  EXPECT_EQ(outcome.left, 1u);
}

TEST_F(ProfilerTest, AStopEndsAfterTheOpAtHand) {
  const std::atomic<bool> stop = true;
  options_.stop = &stop;
  EXPECT_EQ(Run(Products(3)).left, 3u);
  EXPECT_TRUE(samples_.empty());
}

TEST_F(ProfilerTest, AThrottledDeviceCoolsAndMeasuresAgain) {
  timer_.throttled_readings = 1;
  const ProfileOutcome outcome = Run(Products(2));
  EXPECT_EQ(outcome.measured, 2u);
  EXPECT_EQ(outcome.throttled, 0u);
  EXPECT_EQ(clock_.slept, 2 * options_.cooling);
}

TEST_F(ProfilerTest, WhatOnlyAThrottledDeviceMeasuredIsNoSample) {
  timer_.throttled_readings = options_.most_tries;
  const ProfileOutcome outcome = Run(Products(2));
  EXPECT_EQ(outcome.throttled, 2u);
  EXPECT_TRUE(samples_.empty());
}

// Five ops are tried three times each; after that no time is spent on cooling.
TEST_F(ProfilerTest, ADeviceThatStaysThrottledIsMeasuredAsItIs) {
  timer_.throttled_readings = options_.most_tries;
  const ProfileOutcome outcome = Run(Products(30));
  EXPECT_EQ(outcome.throttled, 5u);
  EXPECT_EQ(outcome.measured, 25u);
  EXPECT_EQ(outcome.measured_hot, 25u);
  EXPECT_EQ(clock_.slept, 5 * (options_.most_tries - 1) * options_.cooling);
  for (const Sample& sample : samples_) EXPECT_EQ(sample.software, "fake 1.0, throttled");
}

TEST_F(ProfilerTest, RefusalsAreCountedByReason) {
  std::vector<ProfileCase> suite = Products(2);
  suite.push_back({Op::Gemm(DType::kFp8, 16, 16, 16), "linear"});
  const ProfileOutcome outcome = Run(suite);
  EXPECT_EQ(outcome.measured, 2u);
  EXPECT_EQ(outcome.refused, (std::map<std::string, size_t>{{"no 8-bit numbers", 1}}));
}

}  // namespace
}  // namespace stagecraft
