// Asks cuDNN's heuristic for engines for our graphs on a Hopper, which this machine need not have.
#include "runtime/cuda/attention_graph.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace stagecraft {
namespace {

// An H200 in the format in which cuDNN 9 writes devices.
constexpr const char* kHopper = R"({
  "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000, "cudaDeviceId": 0,
  "multiProcessorCount": 132, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
  "l2CacheSize": 62914560, "totalGlobalMem": 151397597184, "warpSize": 32, "pciDeviceId": 0,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024,
  "isTccDriver": 0, "supportCoopLaunch": 1})";

Op Attention(Direction direction, bool is_causal, int head_size, int kv_heads) {
  Op op = Op::Attention(DType::kBf16, direction, 2 * 32, 2048, 2048, head_size, is_causal);
  op.sequences = 2;
  op.kv_batch = 2 * kv_heads;
  return op;
}

class AttentionGraphTest : public ::testing::Test {
 protected:
  // Engines of the backward pass need a driver, for which the toolkit's empty one is enough: once
  // it is loaded, cuDNN finds it when it asks for the driver by name.
  AttentionGraphTest() : hopper_(*library_, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    const char* const stub = std::getenv("CUDA_DRIVER_STUB");
    if (stub != nullptr && dlopen("libcuda.so.1", RTLD_NOW) == nullptr) dlopen(stub, RTLD_NOW);
    const std::string text = kHopper;
    hopper_
        .SetArray(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                  static_cast<int64_t>(text.size()) + 1, text.c_str())
        .Finalize();
  }

  std::shared_ptr<Cudnn> library_ = std::make_shared<Cudnn>();
  Descriptor hopper_;
};

TEST_F(AttentionGraphTest, FusedEnginesKnowBothDirectionsMasksAndGroupedHeads) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (const bool is_causal : {false, true}) {
      for (const int head_size : {64, 128}) {
        for (const int kv_heads : {32, 8}) {
          const Op op = Attention(direction, is_causal, head_size, kv_heads);
          CudnnGraph graph(library_);
          BuildAttention(op, graph);
          EXPECT_FALSE(graph.FindEngines(hopper_).empty()) << Describe(op);
          EXPECT_FALSE(graph.FindEngines(hopper_, 64).empty()) << Describe(op);
        }
      }
    }
  }
}

TEST_F(AttentionGraphTest, ArgumentsAreTheBytesThatTheOpMoves) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const Op op = Attention(direction, true, 128, 8);
    CudnnGraph graph(library_);
    int64_t bytes = 0;
    for (const auto& block : BuildAttention(op, graph).blocks) {
      if (block.same_as == 0 && !block.is_fp32) bytes += block.bytes;
    }
    EXPECT_EQ(bytes, op.Traffic().count());
  }
}

}  // namespace
}  // namespace stagecraft
