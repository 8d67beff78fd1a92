// GpuParts: one GPU as several devices, each with multiprocessors of its own.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/part_sizes.h"

namespace stagecraft {

// The groups of multiprocessors that the driver makes of a GPU. Throws an InputError, a sentence
// that begins with `place`, if the GPU is not there or the driver is too old to split one.
GpuGroups GroupsOfGpu(int gpu, const std::string& place);

struct GreenContexts;  // of the driver: its functions

// Kernels in streams of a part run on its multiprocessors alone, also those of libraries; memory
// and its caches are shared by all parts. The primary context stays the current one: events, memory
// and handles of libraries belong to it. Must outlive its streams.
class GpuParts {
 public:
  // Makes the GPU current. `multiprocessors` of each part must be as ShareGroups() requires; throws
  // InputError if they are not, and as GroupsOfGpu() does.
  GpuParts(int gpu, std::span<const int> multiprocessors, const std::string& place);
  ~GpuParts();  // where GreenContexts is known
  GpuParts(const GpuParts&) = delete;
  GpuParts& operator=(const GpuParts&) = delete;

  int count() const { return static_cast<int>(contexts_.size()); }
  // Makes a stream that does not wait for the default stream.
  Stream MakeStream(int part) const;

 private:
  struct Destroy {
    const GreenContexts* driver = nullptr;
    void operator()(CUgreenCtx context) const;
  };
  std::unique_ptr<const GreenContexts> driver_;
  std::vector<CudaHandle<CUgreenCtx, Destroy>> contexts_;
};

}  // namespace stagecraft
