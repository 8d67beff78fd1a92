// What every function of CUDA's runtime begins with, in the stand-in.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "runtime/cuda/stand_in/gpu.h"

using stagecraft::stand_in::BreakContract;
using stagecraft::stand_in::Gpu;

// Sets what cudaGetLastError() returns next, too.
inline cudaError_t Fail(cudaError_t status) { return Gpu::Get().last_error = status; }

// Counts a call, which fails if it is to fail.
#define ENTER(status)                                    \
  do {                                                   \
    if (!Gpu::Get().Call(__func__)) return Fail(status); \
  } while (false)

// The result of a function that releases something: like CUDA's, it releases even if it fails.
#define RESULT_OF_RELEASE(status) (Gpu::Get().Call(__func__) ? cudaSuccess : Fail(status))

// A null stream is the default stream.
inline cudaStream_t StreamOf(cudaStream_t stream) {
  return stream == nullptr ? Gpu::Get().default_stream
                           : &Gpu::Get().streams.Get(stream, "a stream");
}

// A call that a capture may not contain ends the capture.
inline cudaError_t Spoil(cudaStream_t stream) {
  stream->is_capture_spoilt = true;
  return Fail(cudaErrorStreamCaptureUnsupported);
}
