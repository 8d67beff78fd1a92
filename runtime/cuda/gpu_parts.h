// GpuParts: one GPU divided into several devices, each with multiprocessors of its own.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/part_sizes.h"

namespace stagecraft {

// Returns the groups of multiprocessors into which the driver splits a GPU. Throws an InputError, a
// sentence that begins with `place`, if the GPU does not exist or the driver is too old to split
// one.
GpuGroups GroupsOfGpu(int gpu, const std::string& place);

struct GreenContexts;  // the driver's functions

// Kernels in streams of a part, also those of libraries, run on its multiprocessors only; memory
// and its caches are shared by all parts. The primary context stays the current one: events, memory
// and handles of libraries belong to it. The object must outlive its streams.
class GpuParts {
 public:
  // Makes the GPU current and divides it. The sizes `multiprocessors` must be as ShareGroups()
  // requires; throws InputError if they are not, and in the cases of GroupsOfGpu().
  GpuParts(int gpu, std::span<const int> multiprocessors, const std::string& place);
  ~GpuParts();  // defined where GreenContexts is a complete type
  GpuParts(const GpuParts&) = delete;
  GpuParts& operator=(const GpuParts&) = delete;

  int count() const { return static_cast<int>(contexts_.size()); }
  // Makes a stream of a part, which does not wait for the default stream.
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
