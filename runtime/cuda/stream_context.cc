#include "runtime/cuda/stream_context.h"

#include "runtime/cuda/device_op.h"
#include "runtime/cuda/driver_function.h"

namespace stagecraft {

StreamContext::StreamContext(cudaStream_t stream) {
  auto* const find = FindDriverFunction<decltype(::cuStreamGetCtx)>("cuStreamGetCtx");
  auto* const push = FindDriverFunction<decltype(::cuCtxPushCurrent)>("cuCtxPushCurrent");
  auto* const pop = FindDriverFunction<decltype(::cuCtxPopCurrent)>("cuCtxPopCurrent");
  if (find == nullptr || push == nullptr || pop == nullptr ||
      find(stream, &context_) != CUDA_SUCCESS || push(context_) != CUDA_SUCCESS) {
    throw Unsupported("the driver does not tell the context of a stream");
  }
  pop_ = pop;
}

StreamContext::~StreamContext() {
  CUcontext context = nullptr;
  pop_(&context);
}

}  // namespace stagecraft
