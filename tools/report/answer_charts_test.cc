#include "tools/report/answer_charts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace stagecraft {
namespace {

TEST(AnswerChartsTest, NumbersAreRoundedAndHaveCommas) {
  EXPECT_EQ(NumberText(71.304), "71.304");
  EXPECT_EQ(NumberText(8847.28), "8,847.3");
  EXPECT_EQ(NumberText(-8847.28), "-8,847.3");
  EXPECT_EQ(NumberText(107582.9), "107,583");
  EXPECT_EQ(NumberText(12), "12");
  EXPECT_EQ(NumberText(-1234567), "-1,234,567");
  EXPECT_EQ(NumberText(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(NumberText(2.5e20), "2.5e+20");
  EXPECT_EQ(NumberText(nullptr), "-");
  EXPECT_EQ(DecimalText(71.304, 2), "71.30");
  EXPECT_EQ(DecimalText(107582.96, 1), "107,583.0");
  EXPECT_EQ(DecimalText(12, 1), "12.0");
  EXPECT_EQ(DecimalText(nullptr, 2), "-");
}

}  // namespace
}  // namespace stagecraft
