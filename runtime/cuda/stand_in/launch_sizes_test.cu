// Launches that no GPU accepts.
#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"

namespace stagecraft {
namespace {

// A kernel with the name of one that the stand-in knows.
__global__ void Spin(int64_t) {}

cudaError_t Launch(unsigned blocks, unsigned threads, size_t shared = 0) {
  Spin<<<blocks, threads, shared>>>(1);
  return cudaGetLastError();
}

TEST(LaunchSizesTest, NoBlocksTooManyThreadsOrTooMuchSharedMemoryIsAnError) {
  UseStandIn({});
  constexpr unsigned kMostBlocks = 0x7fffffff, kMostThreads = 1024;
  constexpr size_t kMostShared = 48 << 10;
  EXPECT_EQ(Launch(1, 1), cudaSuccess);
  EXPECT_EQ(Launch(kMostBlocks, kMostThreads, kMostShared), cudaSuccess);
  EXPECT_EQ(Launch(0, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(kMostBlocks + 1, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(1, kMostThreads + 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(1, 1, kMostShared + 1), cudaErrorInvalidConfiguration);
}

}  // namespace
}  // namespace stagecraft
