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
  EXPECT_FALSE(board.has_data || board.checks_memory);
  EXPECT_EQ(board.watts, 300);
  EXPECT_TRUE(board.is_throttled);
  EXPECT_TRUE(ParseStandInBoard("data=yes").has_data);
  EXPECT_FALSE(ParseStandInBoard("data=checked").has_data);
  EXPECT_TRUE(ParseStandInBoard("data=checked").checks_memory);
  EXPECT_TRUE(board.missing.contains("libcudnn"));
  EXPECT_EQ(board.fails.function, "cudaMalloc");
  EXPECT_EQ(board.fails.nth, 3);
  EXPECT_EQ(ParseStandInBoard("name=NVIDIA_H200").name, "NVIDIA H200");
  EXPECT_TRUE(ParseStandInBoard("driver=old").is_driver_old);
  for (const char* const words :
       {"groups", "groups=-1", "groups=x", "data=maybe", "fail=x", "driver=new", "y=1"}) {
    EXPECT_NE(ErrorOf([&] { ParseStandInBoard(words); }), "") << words;
  }
}

}  // namespace
}  // namespace stagecraft
