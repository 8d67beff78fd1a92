// Packs of eight numbers, which a thread loads or stores at once; eight 16-bit numbers take 16
// bytes.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

namespace stagecraft {

constexpr int kPack = 8;

__device__ inline void LoadPack(const __nv_bfloat16* numbers, int64_t pack, float (&to)[kPack]) {
  const uint4 raw = reinterpret_cast<const uint4*>(numbers)[pack];
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < kPack / 2; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    to[2 * i] = pair.x;
    to[2 * i + 1] = pair.y;
  }
}

__device__ inline void StorePack(const float (&from)[kPack], __nv_bfloat16* numbers, int64_t pack) {
  uint4 raw;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < kPack / 2; ++i) {
    pairs[i] = __floats2bfloat162_rn(from[2 * i], from[2 * i + 1]);
  }
  reinterpret_cast<uint4*>(numbers)[pack] = raw;
}

// Do the same for 32-bit numbers.
__device__ inline void LoadPack(const float* numbers, int64_t pack, float (&to)[kPack]) {
  const float4* const from = reinterpret_cast<const float4*>(numbers) + 2 * pack;
  const float4 low = from[0], high = from[1];
  to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
  to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

__device__ inline void StorePack(const float (&from)[kPack], float* numbers, int64_t pack) {
  float4* const to = reinterpret_cast<float4*>(numbers) + 2 * pack;
  to[0] = make_float4(from[0], from[1], from[2], from[3]);
  to[1] = make_float4(from[4], from[5], from[6], from[7]);
}

}  // namespace stagecraft
