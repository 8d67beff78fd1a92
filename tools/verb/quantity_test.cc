#include "tools/verb/quantity.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(QuantityTest, SuffixesArePowersOfAThousand) {
  EXPECT_EQ(ParseQuantity("1T"), 1e12);
  EXPECT_EQ(ParseQuantity("1.4T"), 1.4e12);
  EXPECT_EQ(ParseQuantity("300B"), 3e11);
  EXPECT_EQ(ParseQuantity("2G"), 2e9);
  EXPECT_EQ(ParseQuantity("4M"), 4e6);
  EXPECT_EQ(ParseQuantity("8k"), 8000);
  EXPECT_EQ(ParseQuantity("8K"), 8000);
  EXPECT_EQ(ParseQuantity("-0.5k"), -500);
  EXPECT_EQ(ParseQuantity("1e12"), 1e12);
  EXPECT_EQ(ParseQuantity("17"), 17);
}

TEST(QuantityTest, SomeAreOf1024) {
  EXPECT_EQ(ParseQuantity("8Ki"), 8192);
  EXPECT_EQ(ParseQuantity("1Mi"), 1048576);
  EXPECT_EQ(ParseQuantity("128k", Thousand::kBinary), 131072);
  EXPECT_EQ(ParseQuantity("8Ki", Thousand::kBinary), 8192);
  EXPECT_EQ(ParseQuantity("8000", Thousand::kBinary), 8000);
}

TEST(QuantityTest, TimesHaveUnits) {
  EXPECT_EQ(ParseSeconds("90"), 90);
  EXPECT_EQ(ParseSeconds("90s"), 90);
  EXPECT_EQ(ParseSeconds("500ms"), 0.5);
  EXPECT_EQ(ParseSeconds("10min"), 600);
  EXPECT_EQ(ParseSeconds("3h"), 10800);
  EXPECT_EQ(ParseSeconds("0.5d"), 43200);
}

TEST(QuantityTest, OtherTextIsNone) {
  for (const char* text : {"", "k", "1 T", "1t", "4m", "4Mb", "i", "4i", "4Bi", "0x10", "nan",
                           "inf", "1e999", "T1", "1kk", " 1", "1e308T"}) {
    EXPECT_FALSE(ParseQuantity(text).has_value()) << text;
  }
  for (const char* text : {"", "s", "10m", "10 min", "10hours", "nan", "1e999", "1e308d"}) {
    EXPECT_FALSE(ParseSeconds(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace stagecraft
