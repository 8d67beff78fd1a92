#include "sim/schedule/time_hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "costmodel/hash.h"

namespace stagecraft {
namespace {

TEST(TimeHashTest, IsTheHashOfTheNanoseconds) {
  TimeHash times;
  Hash numbers;
  for (const int64_t ns : {int64_t{0}, int64_t{1}, int64_t{255}, int64_t{256}, int64_t{65536},
                           int64_t{123456789012}, int64_t{1} << 40, int64_t{1} << 62,
                           std::numeric_limits<int64_t>::max(), int64_t{-1}, int64_t{0}}) {
    times.Add(Duration::Nanoseconds(ns));
    numbers.Add(ns);
    EXPECT_EQ(times.value(), numbers.value()) << ns;
  }
}

}  // namespace
}  // namespace stagecraft
