#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/random_fill.h"

namespace stagecraft {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 4096;

// Returns random number `index`, by the finalizer of SplitMix64 as in costmodel/random.h.
__device__ float RandomAt(uint64_t seed, int64_t index) {
  uint64_t z = seed + (static_cast<uint64_t>(index) + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return static_cast<float>(z >> 40) * 0x1.0p-23f - 1.0f;
}

template <typename Number>
__global__ void Fill(Number* numbers, int64_t count, uint64_t seed) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    numbers[i] = Number(RandomAt(seed, i));
  }
}

template <typename Number>
void FillAs(void* memory, int64_t count, uint64_t seed, cudaStream_t stream) {
  const int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  Fill<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<Number*>(memory), count,
                                                               seed);
  CHECK_CUDA(cudaGetLastError());
}

}  // namespace

void FillRandom(void* memory, int64_t count, DType dtype, uint64_t seed, cudaStream_t stream) {
  if (count == 0) return;
  switch (dtype) {
    case DType::kFp32:
    case DType::kTf32:
      return FillAs<float>(memory, count, seed, stream);
    case DType::kFp16:
      return FillAs<__half>(memory, count, seed, stream);
    case DType::kBf16:
      return FillAs<__nv_bfloat16>(memory, count, seed, stream);
    case DType::kFp8:
      return FillAs<__nv_fp8_e4m3>(memory, count, seed, stream);
    case DType::kNvfp4:
      break;  // no op of the runtime has it
  }
}

}  // namespace stagecraft
