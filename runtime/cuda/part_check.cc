#include "runtime/cuda/part_check.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/cuda/capture_graph.h"
#include "runtime/cuda/share_kernels.h"

namespace stagecraft {
namespace {

// Kernels in a part of a Hopper may use two multiprocessors more if a module starts kernels from
// kernels (cuda.h, "Green Contexts").
constexpr int kMostBeside = 2;

// Returns the number of multiprocessors on which a kernel in the stream runs, queued by itself or
// in a graph; throws if the driver cannot capture there.
int CountUsed(cudaStream_t stream, bool in_graph) {
  const DeviceMemory memory(kMostMultiprocessors * sizeof(int));
  auto* const seen = reinterpret_cast<int*>(memory.get());
  CHECK_CUDA(cudaMemsetAsync(seen, 0, memory.bytes(), stream));
  Graph graph;
  if (in_graph) {
    graph = CaptureGraph(stream, [&] { LaunchLook(seen, stream); });
    CHECK_CUDA(cudaGraphLaunch(graph.get(), stream));
  } else {
    LaunchLook(seen, stream);
  }
  std::vector<int> used(kMostMultiprocessors);
  CHECK_CUDA(cudaMemcpyAsync(used.data(), seen, memory.bytes(), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return static_cast<int>(std::count(used.begin(), used.end(), 1));
}

}  // namespace

bool GraphsKeepToPart(int multiprocessors, cudaStream_t stream) {
  const int used = CountUsed(stream, false);
  if (used > multiprocessors + kMostBeside) {
    throw std::runtime_error("a kernel in a part of " + std::to_string(multiprocessors) +
                             " multiprocessors ran on " + std::to_string(used));
  }
  try {
    return CountUsed(stream, true) <= multiprocessors + kMostBeside;
  } catch (const std::runtime_error&) {
    cudaGetLastError();
    return false;
  }
}

}  // namespace stagecraft
