// What is found out about a GPU and its parts on the stand-in for a GPU.
#include "runtime/cuda/local_boards.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "runtime/cuda/stand_in/board.h"

namespace stagecraft {
namespace {

const std::vector<int> kHalves = {64, 64};

// On the stand-in a copy takes 2 us and a nanosecond for each 1400 bytes.
TEST(LocalBoardsTest, ACopyBetweenPartsTakesTheDevicesTimeHoweverSlowTheHostIs) {
  for (const int call_nanoseconds : {1'500, 10'000}) {
    StandInBoard board = CheckedBoard();
    board.call_nanoseconds = call_nanoseconds;
    UseStandIn(board);
    for (const Link& copy : ProbeParts(0, kHalves, "test").copies) {
      EXPECT_NEAR(copy.latency.us(), 2, 0.02) << call_nanoseconds;
    }
  }
}

TEST(LocalBoardsTest, WhatOneNameOfTheManagementLibraryWouldSayIsAllThatIsUnknownWithoutIt) {
  StandInBoard board = CheckedBoard();
  board.missing = {"nvmlDeviceGetFieldValues", "nvmlDeviceGetMaxPcieLinkWidth"};
  UseStandIn(board);
  const LocalBoard found = FindLocalBoards("test")[0];
  EXPECT_EQ(found.pcie_generation, 5);
  EXPECT_EQ(found.pcie_lanes, 0);
}

TEST(LocalBoardsTest, TooLittleMemoryToMeasurePartsIsOneSentence) {
  for (const size_t memory : {size_t{0}, size_t{8} << 20}) {
    StandInBoard board = CheckedBoard();
    board.memory = memory;
    UseStandIn(board);
    EXPECT_NE(ErrorOf([] { ProbeParts(0, kHalves, "test"); }).find("want one with room"),
              std::string::npos)
        << memory;
    EXPECT_TRUE(StandInLeaks().empty());
  }
}

}  // namespace
}  // namespace stagecraft
