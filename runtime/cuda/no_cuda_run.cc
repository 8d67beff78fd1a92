#include "costmodel/check.h"
#include "runtime/cuda/cuda_run.h"

namespace stagecraft {

CudaRunResult RunOnCuda(const CudaRunRequest&) {
  throw InputError(
      "--executor: got cuda, want a build that has CUDA: this one was made where no toolkit was "
      "found (CUDA_HOME says where one is)");
}

}  // namespace stagecraft
