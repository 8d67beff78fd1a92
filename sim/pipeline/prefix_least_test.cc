#include "sim/pipeline/prefix_least.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

TEST(PrefixLeastTest, BeginningsRiseTogether) {
  PrefixLeast values(std::vector<int64_t>{5, 3, 4});
  EXPECT_EQ(values.Least(1), 5);
  EXPECT_EQ(values.Least(3), 3);
  values.Add(2, 10);
  EXPECT_EQ(values.Least(2), 13);
  EXPECT_EQ(values.Least(3), 4);
}

TEST(PrefixLeastTest, AnEmptyBeginningHasNoLeast) {
  EXPECT_EQ(PrefixLeast(std::vector<int64_t>{5, -3}).Least(0), PrefixLeast::kNone);
}

TEST(PrefixLeastTest, AgreesWithAPlainList) {
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    Random random = Random(1).Child("prefix least", trial);
    std::vector<int64_t> plain(static_cast<size_t>(random.Integer(1, 40)));
    for (int64_t& value : plain) value = random.Integer(-100, 100);
    PrefixLeast values(plain);
    for (int step = 0; step < 50; ++step) {
      const size_t end = static_cast<size_t>(random.Integer(1, static_cast<int64_t>(plain.size())));
      const int64_t amount = random.Integer(-100, 100);
      values.Add(end, amount);
      for (size_t k = 0; k < end; ++k) plain[k] += amount;
      const size_t asked =
          static_cast<size_t>(random.Integer(1, static_cast<int64_t>(plain.size())));
      EXPECT_EQ(values.Least(asked),
                *std::min_element(plain.begin(), plain.begin() + static_cast<ptrdiff_t>(asked)));
    }
  }
}

}  // namespace
}  // namespace stagecraft
