// Runs in which one call fails, any one of CUDA's, cuBLASLt's, cuDNN's, NVML's or the driver's.
#include "runtime/cuda/stand_in/failing_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/one_layer.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/cuda/two_stages.h"
#include "runtime/planned_memory.h"

namespace stagecraft {
namespace {

constexpr int kPart = 64;

// A GPU with a cache so small that operands, which rotate through three times its size, are few.
StandInGpu PlayedGpu() {
  StandInGpu gpu = CheckedGpu();
  gpu.cache = 1 << 16;
  return gpu;
}

// Returns what a run tells about its devices: if the driver can capture nothing on a part, the run
// goes on and says so.
std::string WhatIsToldBy(const CudaRunResult& result) {
  for (const std::string& device : result.devices) {
    if (device.find("one by one") != std::string::npos) return device;
  }
  return "";
}

// Runs two stages on two parts, with attention and memory that passes hold.
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

std::string ErrorOfRun(const StandInGpu& gpu) {
  UseStandIn(gpu);
  return ErrorOf([] { RunTwoStages(); });
}

std::string RunOneLayer() {
  const Schedule schedule = OneLayer();
  return WhatIsToldBy(
      RunOnCuda({.schedule = &schedule, .places = {{0, 0}}, .process = {}, .steps = {{1}, {1}}}));
}

// Each rank waits for its stream once more when it is destroyed, after the results have been read.
constexpr const char* kLastWait = "cudaStreamSynchronize";

// Returns the failures that go unnoticed in a run on two parts. If cuDNN cannot be asked for
// kernels for a part, or knows none, those for the whole GPU are taken: for each plan that is
// compiled, one call of each function fails unnoticed.
std::map<std::string, int> UnnoticedOnParts(int plans) {
  return {{kLastWait, 2}, {"cudnnBackendSetAttribute", plans}, {"cudnnBackendFinalize", plans}};
}

TEST(FailingCallsTest, WhicheverFailsARunOnPartsEndsWithASentenceAndLeavesNothing) {
  ASSERT_EQ(ErrorOfRun(PlayedGpu()), "");
  EXPECT_GT(StandInCalls().size(), 30u);
  FailEveryCall(PlayedGpu(), RunTwoStages, UnnoticedOnParts(1));
}

TEST(FailingCallsTest, ARunOnPartsDoesSoEvenIfCudnnComparesContexts) {
  StandInGpu gpu = PlayedGpu();
  gpu.cudnn_compares_contexts = true;
  constexpr int kPlans = 2;  // one for each part, since each has a handle of its own
  FailEveryCall(gpu, RunTwoStages, UnnoticedOnParts(kPlans));
}

TEST(FailingCallsTest, SoDoesARunOnAWholeGpu) {
  FailEveryCall(PlayedGpu(), RunOneLayer, {{kLastWait, 1}});
}

TEST(FailingCallsTest, AStatusOfALibraryIsToldByItsName) {
  StandInGpu gpu = PlayedGpu();
  gpu.fails = {"cublasLtMatmul", 1};
  EXPECT_NE(ErrorOfRun(gpu).find("refuses with CUBLAS_STATUS_EXECUTION_FAILED (13)"),
            std::string::npos)
      << ErrorOfRun(gpu);
  gpu.missing = {"cublasLtGetStatusName"};
  EXPECT_NE(ErrorOfRun(gpu).find("refuses with status 13"), std::string::npos);
}

TEST(FailingCallsTest, AnyGpuThatLacksSomethingIsRefusedInASentence) {
  StandInGpu none = PlayedGpu(), old = none, without = none, small = none;
  none.gpus = 0;
  old.has_green_contexts = false;
  without.missing = {"libcublasLt"};
  small.memory = 16 << 20;
  const std::map<std::string, StandInGpu> gpus = {{"want a machine that has one", none},
                                                  {"want a driver of this CUDA", old},
                                                  {"libcublasLt.so", without},
                                                  {"too little memory", small}};
  for (const auto& [words, gpu] : gpus) {
    const std::string error = ErrorOfRun(gpu);
    EXPECT_NE(error.find(words), std::string::npos) << words << error;
    EXPECT_TRUE(StandInLeaks().empty()) << words;
  }
}

}  // namespace
}  // namespace stagecraft
