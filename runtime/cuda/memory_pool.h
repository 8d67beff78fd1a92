// MemoryPool: device memory that one rank takes, in the order of its streams.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "costmodel/units.h"

namespace stagecraft {

// Keeps what is given back, so that steps after the first wait for no allocation.
class MemoryPool {
 public:
  // Given back in the order of a stream, which is still there then.
  struct GiveBack {
    cudaStream_t stream = nullptr;
    void operator()(std::byte* memory) const { cudaFreeAsync(memory, stream); }
  };
  using Memory = std::unique_ptr<std::byte, GiveBack>;

  explicit MemoryPool(int board);

  // Goes before the pool, in the stream's order unless it is told another. Throws Unsupported where
  // too little is left.
  Memory Allocate(size_t bytes, cudaStream_t stream);

  Bytes peak() const;      // the most that was handed out at once
  Bytes reserved() const;  // of the board

 private:
  Bytes Read(cudaMemPoolAttr attribute) const;

  struct Destroy {
    void operator()(cudaMemPool_t pool) const { cudaMemPoolDestroy(pool); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaMemPool_t>, Destroy> pool_;
};

}  // namespace stagecraft
