// Turns the errors that CUDA's functions return into exceptions, and CUDA's objects into values.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "runtime/cuda/device_op.h"

namespace stagecraft {

// Throws Unsupported if the call failed for lack of memory, since the next op may be smaller;
// throws std::runtime_error for other failures.
inline void CheckCuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Unsupported("too little memory was left");
  }
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define CHECK_CUDA(call) ::stagecraft::CheckCuda(call, #call)

// Owns memory of the device that was current when it was made.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    CHECK_CUDA(cudaMalloc(&memory, bytes));
    memory_.reset(static_cast<std::byte*>(memory));
  }
  std::byte* get() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t bytes_ = 0;
};

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
template <typename Handle, typename Destroy>
using CudaHandle = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;
using Stream = CudaHandle<cudaStream_t, DestroyStream>;
using Event = CudaHandle<cudaEvent_t, DestroyEvent>;
using Graph = CudaHandle<cudaGraphExec_t, DestroyGraph>;

inline Stream MakeStream() {
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}
inline Event MakeEvent() {
  cudaEvent_t event = nullptr;
  CHECK_CUDA(cudaEventCreate(&event));
  return Event(event);
}

}  // namespace stagecraft
