#include "tools/verb/shell_quoting.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(ShellQuotingTest, OnlyWordsThatAShellWouldChangeAreQuoted) {
  EXPECT_EQ(ShellQuotedIfNeeded("h100-sxm:2x8"), "h100-sxm:2x8");
  EXPECT_EQ(ShellQuotedIfNeeded("a b"), "'a b'");
  EXPECT_EQ(ShellQuotedIfNeeded("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellQuotedIfNeeded(""), "''");
  EXPECT_EQ(ShellQuotedIfNeeded("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace stagecraft
