#include "tools/verb/progress_text.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

TEST(ProgressTextTest, SaysWhatIsDoneHowFastAndHowLongTheRestTakes) {
  EXPECT_EQ(ProgressText(10, 50, "rows", 5), "10 of 50 rows, 2 rows/s, 20 s left");
}

TEST(ProgressTextTest, WhatWasDoneBeforeHasNoShareInTheRate) {
  EXPECT_EQ(ProgressText(30, 50, "ops", 10, 25), "30 of 50 ops, 0.5 ops/s, 40 s left");
}

TEST(ProgressTextTest, HasNoRateBeforeTheFirst) {
  EXPECT_EQ(ProgressText(0, 50, "rows", 3), "0 of 50 rows");
  EXPECT_EQ(ProgressText(7, 50, "rows", 3, 7), "7 of 50 rows");
  EXPECT_EQ(ProgressText(1, 50, "rows", 0), "1 of 50 rows");
}

}  // namespace
}  // namespace stagecraft
