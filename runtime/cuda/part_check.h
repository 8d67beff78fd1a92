// Whether kernels keep to a part of a board.
#pragma once

#include "runtime/cuda/cuda_call.h"

namespace stagecraft {

// Runs a kernel in the stream of a part of so many multiprocessors, which notes where its blocks
// are: by itself, and in a graph. False where the graph leaves the part, or the driver captures
// none there. Throws std::runtime_error where the kernel by itself does.
bool GraphsKeepToPart(int multiprocessors, cudaStream_t stream);

}  // namespace stagecraft
