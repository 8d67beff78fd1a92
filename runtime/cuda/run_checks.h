// What a run on GPUs can be refused for before any GPU is asked.
#pragma once

#include "runtime/cuda/cuda_run.h"

namespace stagecraft {

// Throws InputError where places and processes do not go with the ranks of the schedule, or
// ranks of one process do not share a board in parts.
void CheckCudaRun(const CudaRunRequest& request);

}  // namespace stagecraft
