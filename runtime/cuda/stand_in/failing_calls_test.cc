// A run in which any one call fails, of CUDA's, cuBLASLt's or the driver's.
#include <gtest/gtest.h>

#include <exception>
#include <map>
#include <set>
#include <string>

#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/board.h"
#include "runtime/cuda/two_stages.h"
#include "runtime/planned_memory.h"

namespace stagecraft {
namespace {

constexpr int kPart = 64;

StandInBoard SmallBoard() {
  StandInBoard board;
  board.cache = 1 << 16;
  return board;
}

// Two stages on two parts, with memory that passes hold.
CudaRunResult RunTwoStages() {
  TwoStages pipeline(3, 64);
  const Schedule schedule = pipeline.builder.Build();
  constexpr Bytes kStates(8 << 20), kPass(1 << 20), kLeft(1 << 18);
  const PlannedMemory memory = {.states = kStates,
                                .chunks = {{{{kPass, kLeft.count()}, {}, {}, {}}}}};
  return RunOnCuda({.schedule = &schedule,
                    .places = {{0, kPart}, {0, kPart}},
                    .process = {},
                    .steps = {{1}, {1}},
                    .memory = {memory, memory}});
}

// What gives back cannot fail in a program that still works, and a query has nothing to say.
bool MayFail(const std::string& function) {
  for (const char* const part : {"Destroy", "Free", "Pop"}) {
    if (function.find(part) != std::string::npos) return false;
  }
  return true;
}

// What the run says of what went wrong; empty: nothing.
std::string ErrorOfRun(const StandInBoard& board) {
  UseStandIn(board);
  try {
    // A driver that captures nothing on a part is no error, but told.
    for (const std::string& device : RunTwoStages().devices) {
      if (device.find("one by one") != std::string::npos) return device;
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(FailingCallsTest, WhicheverCallFailsTheRunEndsWithASentenceAndLeavesNothing) {
  ASSERT_EQ(ErrorOfRun(SmallBoard()), "");
  ASSERT_TRUE(StandInLeaks().empty());
  const std::map<std::string, int> calls = StandInCalls();
  EXPECT_GT(calls.size(), 30u);
  for (const auto& [function, times] : calls) {
    if (!MayFail(function)) continue;
    for (const int nth : std::set<int>{1, 2, times / 2, times}) {
      if (nth < 1 || nth > times) continue;
      StandInBoard board = SmallBoard();
      board.fails = {function, nth};
      const std::string error = ErrorOfRun(board);
      // The last wait is a destructor's, when the result is there.
      const bool is_too_late = function == "cudaStreamSynchronize" && nth == times;
      EXPECT_EQ(error.empty(), is_too_late) << function << " " << nth;
      for (const std::string& leak : StandInLeaks()) ADD_FAILURE() << function << ": " << leak;
    }
  }
}

TEST(FailingCallsTest, AStatusOfALibraryIsToldByItsName) {
  StandInBoard board = SmallBoard();
  board.fails = {"cublasLtMatmul", 1};
  EXPECT_NE(ErrorOfRun(board).find("refuses with CUBLAS_STATUS_EXECUTION_FAILED (13)"),
            std::string::npos)
      << ErrorOfRun(board);
  board.missing = {"cublasLtGetStatusName"};
  EXPECT_NE(ErrorOfRun(board).find("refuses with status 13"), std::string::npos);
}

TEST(FailingCallsTest, AnyBoardThatLacksSomethingIsRefusedInASentence) {
  StandInBoard none = SmallBoard(), old = SmallBoard(), without = SmallBoard(),
               small = SmallBoard();
  none.boards = 0;
  old.has_green_contexts = false;
  without.missing = {"libcublasLt"};
  small.memory = 16 << 20;
  const std::map<std::string, StandInBoard> boards = {{"want a machine that has one", none},
                                                      {"want a driver of this CUDA", old},
                                                      {"libcublasLt.so", without},
                                                      {"too little memory", small}};
  for (const auto& [words, board] : boards) {
    EXPECT_NE(ErrorOfRun(board).find(words), std::string::npos) << words << ErrorOfRun(board);
    EXPECT_TRUE(StandInLeaks().empty()) << words;
  }
}

}  // namespace
}  // namespace stagecraft
