#include "costmodel/units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr double kYear = 365.25 * 86400;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the exact number, or the limit of a Duration if it is beyond that.
Duration Clamped(__int128 ns) {
  const __int128 most = Duration::Max().ns(), least = Duration::Min().ns();
  return Duration::Nanoseconds(static_cast<int64_t>(std::clamp(ns, least, most)));
}

// Returns numbers around zero, around each limit and its half, and of every size.
std::vector<int64_t> Numbers() {
  std::vector<int64_t> numbers;
  const int64_t most = Duration::Max().ns(), least = Duration::Min().ns();
  for (const int64_t near : {int64_t{0}, most / 2, least / 2, kLongestTime.ns()}) {
    for (int64_t off = -3; off <= 3; ++off) numbers.push_back(near + off);
  }
  for (int64_t off = 0; off <= 3; ++off) {
    numbers.push_back(most - off);
    numbers.push_back(least + off);
  }
  const Random random(1);
  for (uint64_t i = 0; i < 300; ++i) {
    Random child = random.Child("number", i);
    const int64_t bits = child.Integer(0, 62);
    const int64_t number = child.Integer(0, (int64_t{1} << bits) - 1);
    numbers.push_back(i % 2 == 0 ? number : -number);
  }
  return numbers;
}

TEST(UnitsTest, BytesOverBandwidthIsADuration) {
  EXPECT_EQ(Bytes(50'000'000'000) / Bandwidth(50e9), Duration::Seconds(1));
  EXPECT_EQ(FlopCount(2e12) / FlopRate(1e15), 2_ms);
}

TEST(UnitsTest, SecondsRoundsToTheNearestNanosecond) {
  EXPECT_EQ(Duration::Seconds(1.4e-9), 1_ns);
  EXPECT_EQ(Duration::Seconds(1.6e-9), 2_ns);
}

TEST(UnitsTest, TheLongestTimeIsACentury) {
  EXPECT_EQ(kLongestTime, Duration::Seconds(100 * kYear));
}

TEST(UnitsTest, SecondsOfEveryNumberIsATime) {
  EXPECT_EQ(Duration::Seconds(std::nan("")), Duration::Max());
  EXPECT_EQ(Duration::Seconds(kInfinity), Duration::Max());
  EXPECT_EQ(Duration::Seconds(-kInfinity), Duration::Min());
  EXPECT_EQ(Duration::Seconds(300 * kYear), Duration::Max());
  EXPECT_EQ(Duration::Seconds(-300 * kYear), Duration::Min());
  EXPECT_EQ(Duration::RoundedNanoseconds(0x1p63), Duration::Max());
  EXPECT_EQ(Duration::RoundedNanoseconds(-0x1p63), Duration::Min());
  EXPECT_EQ(Duration::RoundedNanoseconds(0x1p62), Duration::Nanoseconds(int64_t{1} << 62));
  EXPECT_EQ(Bytes(1) / Bandwidth(0), Duration::Max());
  EXPECT_EQ(Bytes(0) / Bandwidth(0), Duration::Max());
  EXPECT_EQ(FlopCount(1e300) / FlopRate(1e-300), Duration::Max());
}

TEST(UnitsTest, MoreSecondsAreNeverLess) {
  std::vector<double> seconds = {-kInfinity, kInfinity};
  for (int exponent = -320; exponent <= 308; ++exponent) {
    for (const double digit : {1.0, 2.9, 9.2233720368547758, 9.999}) {
      seconds.push_back(digit * std::pow(10, exponent));
      seconds.push_back(-seconds.back());
    }
  }
  std::sort(seconds.begin(), seconds.end());
  for (size_t i = 1; i < seconds.size(); ++i) {
    EXPECT_LE(Duration::Seconds(seconds[i - 1]), Duration::Seconds(seconds[i])) << seconds[i];
  }
}

TEST(UnitsTest, SumsDifferencesAndProductsEndAtTheLimits) {
  const std::vector<int64_t> numbers = Numbers();
  for (const int64_t a : numbers) {
    for (const int64_t b : numbers) {
      const Duration left = Duration::Nanoseconds(a), right = Duration::Nanoseconds(b);
      const __int128 wide = a;
      ASSERT_EQ(left + right, Clamped(wide + b)) << a << " + " << b;
      ASSERT_EQ(left - right, Clamped(wide - b)) << a << " - " << b;
      ASSERT_EQ(a * right, Clamped(wide * b)) << a << " * " << b;
      Duration sum = left, difference = left;
      sum += right;
      difference -= right;
      ASSERT_EQ(sum, left + right);
      ASSERT_EQ(difference, left - right);
    }
  }
}

}  // namespace
}  // namespace stagecraft
