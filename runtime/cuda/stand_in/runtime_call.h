// What every function of CUDA's runtime does first, in the stand-in.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "runtime/cuda/stand_in/gpu.h"

using stagecraft::stand_in::BreakContract;
using stagecraft::stand_in::Gpu;

// Returns the status, which the next cudaGetLastError() returns, too.
inline cudaError_t Fail(cudaError_t status) { return Gpu::Get().last_error = status; }

// Counts a call, and returns from the function if the call must fail.
#define ENTER(status)                                    \
  do {                                                   \
    if (!Gpu::Get().Call(__func__)) return Fail(status); \
  } while (false)

// The result of a function that releases something. Like CUDA's, such a function releases it even
// if it fails.
#define RESULT_OF_RELEASE(status) (Gpu::Get().Call(__func__) ? cudaSuccess : Fail(status))

// Returns the object of a stream; nullptr is the default stream.
inline cudaStream_t StreamOf(cudaStream_t stream) {
  return stream == nullptr ? Gpu::Get().default_stream
                           : &Gpu::Get().streams.Get(stream, "a stream");
}

// Spoils a capture, which a call that it may not contain does, and returns the error.
inline cudaError_t Spoil(cudaStream_t stream) {
  stream->is_capture_spoilt = true;
  return Fail(cudaErrorStreamCaptureUnsupported);
}
