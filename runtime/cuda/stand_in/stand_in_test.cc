// CUDA's contracts that the stand-in enforces.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

constexpr size_t kBytes = 1 << 20;

class StandInTest : public testing::Test {
 protected:
  StandInTest() { UseStandIn({}); }
};

std::byte FirstOf(const DeviceMemory& memory) {
  std::byte first = {};
  CHECK_CUDA(cudaMemcpy(&first, memory.get(), 1, cudaMemcpyDeviceToHost));
  return first;
}

TEST_F(StandInTest, AStreamDoesWhatItIsGivenOneAfterAnother) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes), copy(kBytes);
  CHECK_CUDA(cudaMemsetAsync(memory.get(), 7, kBytes, stream.get()));
  CHECK_CUDA(
      cudaMemcpyAsync(copy.get(), memory.get(), kBytes, cudaMemcpyDeviceToDevice, stream.get()));
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  EXPECT_EQ(FirstOf(copy), std::byte{7});
}

// [fill 7 ......]
//    [copy]        of another stream, which may wait for the fill
TEST_F(StandInTest, AStreamThatDoesNotWaitForAnEventReadsWhatWasThereBefore) {
  for (const bool waits : {false, true}) {
    const Stream first = MakeStream(), second = MakeStream();
    const Event filled = MakeEvent();
    const DeviceMemory memory(kBytes), copy(kBytes);
    LaunchSpin(Duration::Nanoseconds(100'000), first.get());
    CHECK_CUDA(cudaMemsetAsync(memory.get(), 7, kBytes, first.get()));
    CHECK_CUDA(cudaEventRecord(filled.get(), first.get()));
    if (waits) CHECK_CUDA(cudaStreamWaitEvent(second.get(), filled.get(), 0));
    CHECK_CUDA(
        cudaMemcpyAsync(copy.get(), memory.get(), kBytes, cudaMemcpyDeviceToDevice, second.get()));
    CHECK_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(FirstOf(copy), waits ? std::byte{7} : std::byte{0}) << waits;
  }
}

TEST_F(StandInTest, EventsTellTheTimeOfWhatLiesBetween) {
  const Stream stream = MakeStream();
  const Event begin = MakeEvent(), end = MakeEvent();
  CHECK_CUDA(cudaEventRecord(begin.get(), stream.get()));
  LaunchSpin(Duration::Nanoseconds(300'000), stream.get());
  LaunchSpin(Duration::Nanoseconds(200'000), stream.get());
  CHECK_CUDA(cudaEventRecord(end.get(), stream.get()));
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin.get(), end.get()), cudaErrorNotReady);
  cudaGetLastError();
  CHECK_CUDA(cudaEventSynchronize(end.get()));
  CHECK_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  // The host takes a microsecond or two to queue the first spin.
  EXPECT_GE(ms, 0.5f);
  EXPECT_LT(ms, 0.51f);
}

TEST_F(StandInTest, AGateHoldsBackUntilTheHostOpensItOrItRunsOut) {
  for (const bool opens : {true, false}) {
    const Stream stream = MakeStream();
    const Event begin = MakeEvent(), end = MakeEvent();
    int* gate = nullptr;
    CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&gate), sizeof(int), cudaHostAllocMapped));
    *gate = 0;
    CHECK_CUDA(cudaEventRecord(begin.get(), stream.get()));
    LaunchGate(gate, stream.get());
    CHECK_CUDA(cudaEventRecord(end.get(), stream.get()));
    EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
    if (opens) *gate = 1;
    CHECK_CUDA(cudaStreamSynchronize(stream.get()));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (opens) {
      EXPECT_LT(ms, 1);
    } else {
      EXPECT_GE(ms, kLongestGate.ms());
    }
    CHECK_CUDA(cudaFreeHost(gate));
  }
}

TEST_F(StandInTest, ACaptureHoldsNoWaitingAndDoesNothingYet) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes);
  CHECK_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
  CHECK_CUDA(cudaMemsetAsync(memory.get(), 7, kBytes, stream.get()));
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaStreamEndCapture(stream.get(), &graph));
  CHECK_CUDA(cudaGraphDestroy(graph));
  EXPECT_EQ(FirstOf(memory), std::byte{0});
  CHECK_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  cudaGetLastError();
}

// A graph contains only what was queued on the stream that is captured.
TEST_F(StandInTest, ACaptureWaitsForNoEventEvenOneThatWasNeverRecorded) {
  for (const bool is_recorded : {false, true}) {
    const Stream stream = MakeStream(), other = MakeStream();
    const Event event = MakeEvent();
    if (is_recorded) CHECK_CUDA(cudaEventRecord(event.get(), other.get()));
    CHECK_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
    EXPECT_NE(cudaStreamWaitEvent(stream.get(), event.get(), 0), cudaSuccess);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
  }
}

TEST_F(StandInTest, MemoryIsNoMoreThanTheGpuHas) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, StandInGpu().memory + 1), cudaErrorMemoryAllocation);
  cudaGetLastError();
  const DeviceMemory all(StandInGpu().memory);
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorMemoryAllocation);
  cudaGetLastError();
}

TEST_F(StandInTest, WhatIsNotReleasedIsALeak) {
  EXPECT_TRUE(StandInLeaks().empty());
  void* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, kBytes));
  Stream stream = MakeStream();
  EXPECT_EQ(StandInLeaks().size(), 2u);
  CHECK_CUDA(cudaFree(memory));
  stream.reset();
  EXPECT_TRUE(StandInLeaks().empty());
}

TEST_F(StandInTest, ACallFailsAtItsNthTime) {
  StandInGpu gpu;
  gpu.fails = {"cudaMalloc", 2};
  UseStandIn(gpu);
  const DeviceMemory first(kBytes);
  EXPECT_THROW(DeviceMemory(1), std::runtime_error);
  const DeviceMemory third(kBytes);
  EXPECT_EQ(StandInCalls().at("cudaMalloc"), 3);
}

// CUDA's functions that release something do so even if they return an error.
TEST_F(StandInTest, WhatIsReleasedIsGoneEvenIfTheReleaseFails) {
  StandInGpu gpu;
  gpu.fails = {"cudaFree", 1};
  UseStandIn(gpu);
  void* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, kBytes));
  EXPECT_NE(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(StandInLeaks().empty());
  cudaGetLastError();
}

TEST_F(StandInTest, AGateThatIsNotOpenedIsCounted) {
  for (const int opened : {1, 0}) {
    UseStandIn({});
    const Stream stream = MakeStream();
    LaunchGate(&opened, stream.get());
    CHECK_CUDA(cudaStreamSynchronize(stream.get()));
    EXPECT_EQ(StandInGatesRunOut(), 1 - opened);
  }
}

using StandInDeathTest = StandInTest;

TEST_F(StandInDeathTest, MemoryThatIsTouchedMustBeAllocatedAndNotYetFreed) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes);
  EXPECT_DEATH(
      {
        cudaMemsetAsync(memory.get(), 0, kBytes + 1, stream.get());
        cudaStreamSynchronize(stream.get());
      },
      "cudaMemset touches");
  EXPECT_DEATH(
      {
        cudaFree(memory.get());
        cudaFree(memory.get());
      },
      "freed already");
}

TEST_F(StandInDeathTest, HandlesThatAreUsedMustBeAlive) {
  EXPECT_DEATH(cudaEventRecord(reinterpret_cast<cudaEvent_t>(1), nullptr), "an event is used");
  EXPECT_DEATH(
      {
        cudaStream_t stream = MakeStream().release();
        cudaStreamDestroy(stream);
        cudaStreamSynchronize(stream);
      },
      "a stream is used");
}

}  // namespace
}  // namespace stagecraft
