#include "runtime/cuda/stand_in/board.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

TEST(StandInBoardTest, WordsDescribeABoard) {
  const StandInBoard board = ParseStandInBoard(
      "groups=15 rest=12 cache=1 data=no missing=libcudnn fail=cudaMalloc:3 watts=300 "
      "throttled=yes");
  EXPECT_EQ(board.multiprocessors(), 132);
  EXPECT_EQ(board.cache, size_t{1} << 20);
  EXPECT_EQ(board.data, StandInData::kIgnored);
  EXPECT_EQ(board.watts, 300);
  EXPECT_TRUE(board.is_throttled);
  EXPECT_EQ(ParseStandInBoard("data=yes").data, StandInData::kCalculated);
  EXPECT_EQ(ParseStandInBoard("data=checked").data, StandInData::kChecked);
  EXPECT_EQ(ParseStandInBoard("call=50").call_nanoseconds, 50);
  EXPECT_TRUE(board.missing.contains("libcudnn"));
  EXPECT_EQ(board.fails.function, "cudaMalloc");
  EXPECT_EQ(board.fails.nth, 3);
  EXPECT_EQ(ParseStandInBoard("name=NVIDIA_H200").name, "NVIDIA H200");
  EXPECT_TRUE(ParseStandInBoard("driver-is-old=yes").driver_is_old);
  for (const char* const words :
       {"groups", "groups=-1", "groups=x", "data=maybe", "fail=x", "driver-is-old=maybe", "y=1"}) {
    EXPECT_NE(ErrorOf([&] { ParseStandInBoard(words); }), "") << words;
  }
}

}  // namespace
}  // namespace stagecraft
