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

// A driver that captures nothing on a part is no error, but told.
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

// A rank that goes waits for its stream, when results are there.
constexpr const char* kLastWait = "cudaStreamSynchronize";
// Whether a handle takes a stream is asked before it matters, and whether cuDNN may be asked for
// kernels for a part, and knows any, for whose lack there are others.
constexpr const char* kFirstStream = "cudnnSetStream";
constexpr const char* kAskForPart = "cudnnBackendSetAttribute";
constexpr const char* kForPart = "cudnnBackendFinalize";
const std::map<std::string, int> kUnnoticedOnParts = {
    {kLastWait, 2}, {kFirstStream, 4}, {kAskForPart, 2}, {kForPart, 2}};

TEST(FailingCallsTest, WhicheverFailsARunOnPartsEndsWithASentenceAndLeavesNothing) {
  FailEveryCall(CheckedBoard(), RunTwoStages, kUnnoticedOnParts);
}

TEST(FailingCallsTest, SoItDoesWhereCudnnComparesContexts) {
  StandInBoard board = CheckedBoard();
  board.cudnn_compares_contexts = true;
  FailEveryCall(board, RunTwoStages, kUnnoticedOnParts);
}

TEST(FailingCallsTest, SoDoesARunOnAWholeBoard) {
  FailEveryCall(CheckedBoard(), RunOneLayer, {{kLastWait, 1}, {kFirstStream, 2}});
}

TEST(FailingCallsTest, AStatusOfALibraryIsToldByItsName) {
  StandInBoard board = CheckedBoard();
  board.fails = {"cublasLtMatmul", 1};
  EXPECT_NE(ErrorOfRun(board).find("refuses with CUBLAS_STATUS_EXECUTION_FAILED (13)"),
            std::string::npos)
      << ErrorOfRun(board);
  board.missing = {"cublasLtGetStatusName"};
  EXPECT_NE(ErrorOfRun(board).find("refuses with status 13"), std::string::npos);
}

TEST(FailingCallsTest, AnyBoardThatLacksSomethingIsRefusedInASentence) {
  StandInBoard none = CheckedBoard(), old = none, without = none, small = none;
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
