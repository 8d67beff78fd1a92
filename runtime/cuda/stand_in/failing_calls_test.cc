// A run in which any one call fails, of CUDA's, cuBLASLt's, cuDNN's, NVML's or the driver's.
#include "runtime/cuda/stand_in/failing_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/board.h"
#include "runtime/cuda/stand_in/one_layer.h"
#include "runtime/cuda/two_stages.h"
#include "runtime/planned_memory.h"

namespace stagecraft {
namespace {

constexpr int kPart = 64;

// A cache so small that operands, which go round in three of it, are few.
StandInBoard Board() {
  StandInBoard board = CheckedBoard();
  board.cache = 1 << 16;
  return board;
}

// Where the driver captures nothing on a part, the run goes on and says so of its device.
std::string WhatIsToldBy(const CudaRunResult& result) {
  for (const std::string& device : result.devices) {
    if (device.find("one by one") != std::string::npos) return device;
  }
  return "";
}

// Two stages on two parts, with attention and memory that passes hold.
std::string RunTwoStages() {
  TwoStages pipeline(2, 64, true);
  const Schedule schedule = pipeline.builder.Build();
  constexpr Bytes kStates(8 << 20), kPass(1 << 20), kLeft(1 << 18);
  const PlannedMemory memory = {.states = kStates,
                                .chunks = {{{{kPass, kLeft.count()}, {}, {}, {}}}}};
  return WhatIsToldBy(RunOnCuda({.schedule = &schedule,
                                 .places = {{0, kPart}, {0, kPart}},
                                 .process = {},
                                 .steps = {{1}, {1}},
                                 .memory = {memory, memory}}));
}

std::string ErrorOfRun(const StandInBoard& board) {
  UseStandIn(board);
  return ErrorOf([] { RunTwoStages(); });
}

std::string RunOneLayer() {
  const Schedule schedule = OneLayer();
  return WhatIsToldBy(
      RunOnCuda({.schedule = &schedule, .places = {{0, 0}}, .process = {}, .steps = {{1}, {1}}}));
}

// Each rank waits for its stream once more when it goes. By then results are there.
constexpr const char* kLastWait = "cudaStreamSynchronize";

// Failures that go unnoticed in a run on two parts. Where cuDNN cannot be asked for kernels for a
// part, or knows none, the whole GPU's are taken: one call of each function fails unnoticed for
// each plan that is compiled.
std::map<std::string, int> UnnoticedOnParts(int plans) {
  return {{kLastWait, 2}, {"cudnnBackendSetAttribute", plans}, {"cudnnBackendFinalize", plans}};
}

TEST(FailingCallsTest, WhicheverFailsARunOnPartsEndsWithASentenceAndLeavesNothing) {
  ASSERT_EQ(ErrorOfRun(Board()), "");
  EXPECT_GT(StandInCalls().size(), 30u);
  FailEveryCall(Board(), RunTwoStages, UnnoticedOnParts(1));
}

TEST(FailingCallsTest, SoItDoesWhereCudnnComparesContexts) {
  StandInBoard board = Board();
  board.cudnn_compares_contexts = true;
  constexpr int kPlans = 2;  // one for each part, which has a handle of its own
  FailEveryCall(board, RunTwoStages, UnnoticedOnParts(kPlans));
}

TEST(FailingCallsTest, SoDoesARunOnAWholeBoard) {
  FailEveryCall(Board(), RunOneLayer, {{kLastWait, 1}});
}

TEST(FailingCallsTest, AStatusOfALibraryIsToldByItsName) {
  StandInBoard board = Board();
  board.fails = {"cublasLtMatmul", 1};
  EXPECT_NE(ErrorOfRun(board).find("refuses with CUBLAS_STATUS_EXECUTION_FAILED (13)"),
            std::string::npos)
      << ErrorOfRun(board);
  board.missing = {"cublasLtGetStatusName"};
  EXPECT_NE(ErrorOfRun(board).find("refuses with status 13"), std::string::npos);
}

TEST(FailingCallsTest, AnyBoardThatLacksSomethingIsRefusedInASentence) {
  StandInBoard none = Board(), old = none, without = none, small = none;
  none.boards = 0;
  old.has_green_contexts = false;
  without.missing = {"libcublasLt"};
  small.memory = 16 << 20;
  const std::map<std::string, StandInBoard> boards = {{"want a machine that has one", none},
                                                      {"want a driver of this CUDA", old},
                                                      {"libcublasLt.so", without},
                                                      {"too little memory", small}};
  for (const auto& [words, board] : boards) {
    const std::string error = ErrorOfRun(board);
    EXPECT_NE(error.find(words), std::string::npos) << words << error;
    EXPECT_TRUE(StandInLeaks().empty()) << words;
  }
}

}  // namespace
}  // namespace stagecraft
