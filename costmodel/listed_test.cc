#include "costmodel/listed.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(ListedTest, OnlyTheLastNameHasTheWordBeforeIt) {
  EXPECT_EQ(Listed({}, " or "), "");
  EXPECT_EQ(Listed({"a"}, " or "), "a");
  EXPECT_EQ(Listed({"a", "b"}, " or "), "a or b");
  EXPECT_EQ(Listed({"a", "b", "c"}, " and "), "a, b and c");
}

TEST(ListedTest, NamesMayBeQuoted) {
  EXPECT_EQ(Listed({"a", "b c"}, " or ", "\""), "\"a\" or \"b c\"");
}

}  // namespace
}  // namespace stagecraft
