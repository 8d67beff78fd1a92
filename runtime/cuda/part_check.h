// Checks whether kernels keep to a part of a GPU.
#pragma once

#include "runtime/cuda/cuda_call.h"

namespace stagecraft {

// Runs, in the stream of a part of this number of multiprocessors, a kernel that notes where its
// thread blocks run: by itself, and in a graph. Returns false if the graph leaves the part, or if
// the driver cannot capture one there. Throws std::runtime_error if the kernel by itself leaves the
// part.
bool GraphsKeepToPart(int multiprocessors, cudaStream_t stream);

}  // namespace stagecraft
