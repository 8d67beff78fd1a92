#include "tools/report/commas.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(CommasTest, StandBeforeEveryThreeDigitsOfTheWholePart) {
  EXPECT_EQ(WithCommas("1234567"), "1,234,567");
  EXPECT_EQ(WithCommas("-123456"), "-123,456");
  EXPECT_EQ(WithCommas("123"), "123");
  EXPECT_EQ(WithCommas("-123"), "-123");
  EXPECT_EQ(WithCommas("1234.56789"), "1,234.56789");
  EXPECT_EQ(WithCommas(""), "");
  EXPECT_EQ(WithCommas(12345.67, 1), "12,345.7");
  EXPECT_EQ(WithCommas(999.96, 1), "1,000.0");
  EXPECT_EQ(WithCommas(-1234.5, 3), "-1,234.500");
}

TEST(CommasTest, AmountsHaveFourDigitsOrAreWhole) {
  EXPECT_EQ(AmountText(40.3123), "40.31");
  EXPECT_EQ(AmountText(0.08), "0.08");
  EXPECT_EQ(AmountText(999.94), "999.9");
  EXPECT_EQ(AmountText(1000), "1,000");
  EXPECT_EQ(AmountText(-1234567.8), "-1,234,568");
}

}  // namespace
}  // namespace stagecraft
