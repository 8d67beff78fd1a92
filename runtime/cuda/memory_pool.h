// MemoryPool: device memory that one rank allocates, in the order of its streams.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "costmodel/units.h"

namespace stagecraft {

// Keeps what is freed, so that steps after the first wait for no allocation.
class MemoryPool {
 public:
  // Frees memory in the order of a stream, which must still exist then.
  struct GiveBack {
    cudaStream_t stream = nullptr;
    void operator()(std::byte* memory) const { cudaFreeAsync(memory, stream); }
  };
  using Memory = std::unique_ptr<std::byte, GiveBack>;

  explicit MemoryPool(int gpu);

  // The memory must be freed before the pool is destroyed, in the order of the stream unless it is
  // told another. Throws Unsupported if too little is left.
  Memory Allocate(size_t bytes, cudaStream_t stream);

  Bytes peak() const;      // the most that was allocated at once
  Bytes reserved() const;  // of the GPU

 private:
  Bytes Read(cudaMemPoolAttr attribute) const;

  struct Destroy {
    void operator()(cudaMemPool_t pool) const { cudaMemPoolDestroy(pool); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaMemPool_t>, Destroy> pool_;
};

}  // namespace stagecraft
