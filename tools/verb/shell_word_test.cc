#include "tools/verb/shell_word.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(ShellWordTest, OnlyWordsThatAShellWouldChangeAreQuoted) {
  EXPECT_EQ(ShellWord("h100-sxm:2x8"), "h100-sxm:2x8");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace stagecraft
