// Checks of a run on GPUs that need no GPU.
#pragma once

#include "runtime/cuda/cuda_run.h"

namespace stagecraft {

// Throws InputError if places and processes do not match the ranks of the schedule, or if ranks of
// one process do not share a GPU in parts.
void CheckCudaRun(const CudaRunRequest& request);

}  // namespace stagecraft
