#include "runtime/cuda/stand_in/numbers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>

#include "runtime/cuda/stand_in/gpu.h"

namespace stagecraft::stand_in {
namespace {

constexpr int64_t kMostLookedAt = 4096;

}  // namespace

size_t SizeOf(cudaDataType type) {
  if (type == CUDA_R_32F) return sizeof(float);
  return type == CUDA_R_8F_E4M3 ? 1 : 2;
}

Range Numbers::range() const {
  return {static_cast<const std::byte*>(memory), static_cast<size_t>(count) * SizeOf(type)};
}

float Numbers::At(int64_t i) const {
  switch (type) {
    case CUDA_R_32F:
      return static_cast<const float*>(memory)[i];
    case CUDA_R_16F:
      return static_cast<const __half*>(memory)[i];
    case CUDA_R_8F_E4M3:
      return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(memory)[i]);
    default:
      return static_cast<const __nv_bfloat16*>(memory)[i];
  }
}

void Numbers::Set(int64_t i, float value) const {
  switch (type) {
    case CUDA_R_32F:
      static_cast<float*>(memory)[i] = value;
      break;
    case CUDA_R_16F:
      static_cast<__half*>(memory)[i] = __half(value);
      break;
    default:
      static_cast<__nv_bfloat16*>(memory)[i] = __nv_bfloat16(value);
  }
}

void LookAt(const Numbers& operand) {
  OperandCount& seen = Gpu::Get().operands;
  const int64_t step = std::max<int64_t>(1, operand.count / kMostLookedAt);
  for (int64_t i = 0; i < operand.count; i += step) {
    ++seen.numbers;
    if (!std::isfinite(operand.At(i))) ++seen.not_finite;
  }
}

}  // namespace stagecraft::stand_in
