#include "sim/pipeline/earliest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

TEST(EarliestTest, OfEqualClocksTheFirstGoes) {
  Earliest clocks(3);
  EXPECT_EQ(clocks.Index(), 0);
  clocks.Set(0, 5_ns);
  EXPECT_EQ(clocks.Index(), 1);
  clocks.Set(1, 7_ns);
  clocks.Set(2, 5_ns);
  EXPECT_EQ(clocks.Index(), 0);
  EXPECT_EQ(clocks.Time(), 5_ns);
  EXPECT_EQ(clocks.Time(1), 7_ns);
}

TEST(EarliestTest, FindsWhatASearchFinds) {
  Random random(3);
  for (int count = 1; count < 20; ++count) {
    Earliest clocks(count);
    std::vector<Duration> times(static_cast<size_t>(count));
    for (int step = 0; step < 200; ++step) {
      const int index = static_cast<int>(random.Integer(0, count - 1));
      times[index] = Duration::Nanoseconds(random.Integer(0, 10));
      clocks.Set(index, times[index]);
      const auto least = std::min_element(times.begin(), times.end());
      EXPECT_EQ(clocks.Index(), least - times.begin());
      EXPECT_EQ(clocks.Time(), *least);
    }
  }
}

}  // namespace
}  // namespace stagecraft
