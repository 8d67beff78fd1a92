// Numbers: numbers in memory, in any format.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

// Returns the bytes of one number.
size_t SizeOf(cudaDataType type);

struct Numbers {
  void* memory = nullptr;
  int64_t count = 0;
  cudaDataType type = CUDA_R_16BF;

  Range range() const;
  float At(int64_t i) const;
  void Set(int64_t i, float value) const;
};

// Counts values that are not finite in a sample of an operand's numbers, spread over all of it.
void LookAt(const Numbers& operand);

}  // namespace stagecraft::stand_in
