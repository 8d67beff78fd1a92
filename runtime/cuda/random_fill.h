// Fills device memory with random numbers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "costmodel/device.h"

namespace stagecraft {

// Queues a kernel that writes `count` random numbers from [-1, 1), in the format in which `dtype`
// is stored.
void FillRandom(void* memory, int64_t count, DType dtype, uint64_t seed, cudaStream_t stream);

}  // namespace stagecraft
