// MemoryPool: device memory that one rank allocates and frees in the order of its streams.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "costmodel/units.h"

namespace stagecraft {

// The pool keeps memory that is freed, so that steps after the first do not wait for allocations.
class MemoryPool {
 public:
  // Frees memory in the order of a stream, which must exist until then.
  struct GiveBack {
    cudaStream_t stream = nullptr;
    void operator()(std::byte* memory) const { cudaFreeAsync(memory, stream); }
  };
  using Memory = std::unique_ptr<std::byte, GiveBack>;

  explicit MemoryPool(int gpu);

  // Allocates memory. It must be freed before the pool is destroyed, and is freed in the order of
  // this stream unless its deleter is given another one. Throws Unsupported if too little is free.
  Memory Allocate(size_t bytes, cudaStream_t stream);

  Bytes peak() const;      // the most that was allocated at once
  Bytes reserved() const;  // memory of the GPU that the pool holds now

 private:
  Bytes Read(cudaMemPoolAttr attribute) const;

  struct Destroy {
    void operator()(cudaMemPool_t pool) const { cudaMemPoolDestroy(pool); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaMemPool_t>, Destroy> pool_;
};

}  // namespace stagecraft
