// CaptureGraph: captures what is queued on a stream as a graph, which one call launches.
#pragma once

#include <cuda_runtime.h>

#include "runtime/cuda/cuda_call.h"

namespace stagecraft {

// Returns a graph of what `launch` queues on the stream. The stream can be used again even if
// `launch` throws.
template <typename Launch>
Graph CaptureGraph(cudaStream_t stream, const Launch& launch) {
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaGraph_t graph = nullptr;
  try {
    launch();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  CheckCuda(status, "cudaGraphInstantiate");
  return Graph(executable);
}

}  // namespace stagecraft
