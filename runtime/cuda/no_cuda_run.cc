#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/no_cuda.h"

namespace stagecraft {

CudaRunResult RunOnCuda(const CudaRunRequest&) { RefuseCuda("--executor"); }

}  // namespace stagecraft
