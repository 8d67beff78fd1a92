#include "costmodel/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace stagecraft {
namespace {

using Parts = std::vector<std::string_view>;

TEST(TextTest, SeparatorsAreBetweenParts) {
  EXPECT_EQ(SplitAt("a,b,c", ','), (Parts{"a", "b", "c"}));
  EXPECT_EQ(SplitAt("a -- b -c", " -- "), (Parts{"a", "b -c"}));
}

TEST(TextTest, PartsMayBeEmpty) {
  EXPECT_EQ(SplitAt("", ','), Parts{""});
  EXPECT_EQ(SplitAt(",a,,", ','), (Parts{"", "a", "", ""}));
}

TEST(TextTest, WordsAreNeverEmpty) {
  EXPECT_EQ(SplitWords("  one\ttwo \r\nthree"), (Parts{"one", "two", "three"}));
  EXPECT_EQ(SplitWords(" \t "), Parts{});
}

TEST(TextTest, TrimmedTextKeepsItsBlanksInside) {
  EXPECT_EQ(Trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(Trimmed(" \t"), "");
}

TEST(TextTest, NamesAreJoinedBySeparators) {
  struct Row {
    int number;
    const char* name;
  };
  EXPECT_EQ(Join(Parts{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join(std::vector<Row>{{1, "one"}, {2, "two"}, {3, ""}}, "/", &Row::name), "one/two/");
  EXPECT_EQ(Join(Parts{}, ", "), "");
}

TEST(TextTest, ANumberIsTheWholeText) {
  EXPECT_EQ(ParseNumber<int>("-12"), -12);
  EXPECT_EQ(ParseNumber<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.5", "one"}) {
    EXPECT_EQ(ParseNumber<int>(text), std::nullopt) << text;
  }
}

TEST(TextTest, ANumberFitsItsType) {
  EXPECT_EQ(ParseNumber<int8_t>("127"), 127);
  EXPECT_EQ(ParseNumber<int8_t>("128"), std::nullopt);
  EXPECT_EQ(ParseNumber<double>("1e999"), std::nullopt);
}

TEST(TextTest, ANumberWithAPointMayBeInfiniteOrNone) {
  EXPECT_TRUE(std::isinf(ParseNumber<double>("inf").value()));
  EXPECT_TRUE(std::isnan(ParseNumber<double>("nan").value()));
}

TEST(TextTest, ANumberIsTakenOffTheFront) {
  std::string_view text = "12ms";
  EXPECT_EQ(TakeNumber<int>(text), 12);
  EXPECT_EQ(text, "ms");
  EXPECT_EQ(TakeNumber<int>(text), std::nullopt);
  text = "300,";
  EXPECT_EQ(TakeNumber<int8_t>(text), std::nullopt);
  EXPECT_EQ(text, "300,");
  EXPECT_EQ(TakeNumber<double>(text), 300);
}

}  // namespace
}  // namespace stagecraft
