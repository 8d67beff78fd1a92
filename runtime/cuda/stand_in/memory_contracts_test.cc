// CUDA's contracts of memory that the stand-in enforces.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "costmodel/units.h"
#include "runtime/cuda/capture_graph.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

constexpr size_t kBytes = 1 << 20;

class MemoryContractsTest : public testing::Test {
 protected:
  MemoryContractsTest() { UseStandIn({}); }
};

using MemoryContractsDeathTest = MemoryContractsTest;

std::byte FirstOf(const DeviceMemory& memory) {
  std::byte first = {};
  CHECK_CUDA(cudaMemcpy(&first, memory.get(), 1, cudaMemcpyDeviceToHost));
  return first;
}

TEST_F(MemoryContractsTest, AGpuWhoseMemoryIsCheckedAnswersWhatItIsAskedAndDoesNothingElse) {
  constexpr size_t kFew = 4096;
  UseStandIn(CheckedGpu());
  const DeviceMemory memory(kBytes);
  CHECK_CUDA(cudaMemset(memory.get(), 7, kBytes));
  EXPECT_EQ(FirstOf(memory), std::byte{0});
  CHECK_CUDA(cudaMemset(memory.get(), 7, kFew));
  EXPECT_EQ(FirstOf(memory), std::byte{7});
}

// The works [a] [b] [c] are one graph; b touches memory that is freed before the graph is launched
// again.
TEST_F(MemoryContractsDeathTest, AGraphTouchesWhatIsThereFromItsBeginningToItsEnd) {
  for (const char* const gpu : {"data=yes", "data=checked"}) {
    UseStandIn(ParseStandInGpu(gpu));
    const Stream stream = MakeStream();
    const DeviceMemory kept(kBytes);
    DeviceMemory freed(kBytes);
    const Graph graph = CaptureGraph(stream.get(), [&] {
      for (std::byte* const memory : {kept.get(), freed.get(), kept.get() + kBytes / 2}) {
        CHECK_CUDA(cudaMemsetAsync(memory, 0, kBytes / 2, stream.get()));
      }
    });
    CHECK_CUDA(cudaGraphLaunch(graph.get(), stream.get()));
    CHECK_CUDA(cudaStreamSynchronize(stream.get()));
    EXPECT_DEATH(
        {
          freed = DeviceMemory();
          cudaGraphLaunch(graph.get(), stream.get());
          cudaStreamSynchronize(stream.get());
        },
        "touches .* bytes of memory that was not allocated, or is freed already");
  }
}

// When cudaMemcpy() returns, what it read from memory that is not pinned may still be on its way.
TEST_F(MemoryContractsDeathTest, WhatTheDefaultStreamWritesIsAwaitedBeforeOthersTouchIt) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes);
  const std::vector<std::byte> from(kBytes);
  const auto use = [&] { cudaMemsetAsync(memory.get(), 0, 1, stream.get()); };
  CHECK_CUDA(cudaMemcpy(memory.get(), from.data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT_DEATH(use(), "the host has not waited for it");
  CHECK_CUDA(cudaDeviceSynchronize());
  use();
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  CHECK_CUDA(cudaMemset(memory.get(), 0, kBytes));
  EXPECT_DEATH(use(), "the host has not waited for it");
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  use();
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
}

TEST_F(MemoryContractsTest, TheDefaultStreamDoesItsOwnWorksInOrder) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes);
  const auto fill = [&](int value, cudaStream_t in) {
    CHECK_CUDA(cudaMemsetAsync(memory.get(), value, kBytes, in));
  };
  const Graph graph = CaptureGraph(stream.get(), [&] { fill(7, stream.get()); });
  fill(1, nullptr);
  fill(2, nullptr);
  CHECK_CUDA(cudaGraphLaunch(graph.get(), nullptr));
  EXPECT_EQ(FirstOf(memory), std::byte{7});
}

// Works touch memory when their graph is launched, not when they are captured.
TEST_F(MemoryContractsDeathTest, AGraphMayBeCapturedButNotLaunchedWhileTheDefaultStreamWrites) {
  const Stream stream = MakeStream();
  const DeviceMemory memory(kBytes);
  CHECK_CUDA(cudaMemset(memory.get(), 0, kBytes));
  const Graph graph = CaptureGraph(
      stream.get(), [&] { CHECK_CUDA(cudaMemsetAsync(memory.get(), 7, kBytes, stream.get())); });
  EXPECT_DEATH(cudaGraphLaunch(graph.get(), stream.get()), "the host has not waited for it");
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  CHECK_CUDA(cudaGraphLaunch(graph.get(), stream.get()));
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
}

// Memory is released when its stream reaches the call that frees it, whatever the host does in the
// meantime.
TEST_F(MemoryContractsDeathTest, MemoryOfAPoolIsThereBetweenItsAllocationAndItsRelease) {
  UseStandIn(CheckedGpu());
  cudaMemPoolProps properties = {};
  cudaMemPool_t pool = nullptr;
  CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
  const Stream stream = MakeStream();
  void* memory = nullptr;
  LaunchSpin(Duration::Nanoseconds(100'000), stream.get());
  CHECK_CUDA(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream.get()));
  EXPECT_DEATH(
      {
        const Stream other = MakeStream();
        cudaMemsetAsync(memory, 0, kBytes, other.get());
        cudaStreamSynchronize(other.get());
      },
      "cudaMemset touches");
  CHECK_CUDA(cudaMemsetAsync(memory, 0, kBytes, stream.get()));
  CHECK_CUDA(cudaFreeAsync(memory, stream.get()));
  EXPECT_DEATH(
      {
        cudaMemsetAsync(memory, 0, kBytes, stream.get());
        cudaStreamSynchronize(stream.get());
      },
      "cudaMemset touches");
  CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  CHECK_CUDA(cudaMemPoolDestroy(pool));
}

TEST_F(MemoryContractsDeathTest, APoolGoesWhenAllOfItsMemoryWasGivenBack) {
  cudaMemPoolProps properties = {};
  cudaMemPool_t pool = nullptr;
  CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
  const Stream stream = MakeStream();
  void* memory = nullptr;
  CHECK_CUDA(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream.get()));
  EXPECT_DEATH(cudaMemPoolDestroy(pool), "before all of its memory");
  CHECK_CUDA(cudaFreeAsync(memory, stream.get()));
  CHECK_CUDA(cudaMemPoolDestroy(pool));
}

}  // namespace
}  // namespace stagecraft
