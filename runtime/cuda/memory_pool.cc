#include "runtime/cuda/memory_pool.h"

#include <cstdint>
#include <limits>

#include "runtime/cuda/cuda_call.h"

namespace stagecraft {

MemoryPool::MemoryPool(int gpu) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = gpu;
  cudaMemPool_t pool = nullptr;
  CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
  pool_.reset(pool);
  uint64_t all = std::numeric_limits<uint64_t>::max();
  CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

MemoryPool::Memory MemoryPool::Allocate(size_t bytes, cudaStream_t stream) {
  void* memory = nullptr;
  CHECK_CUDA(cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream));
  return {static_cast<std::byte*>(memory), GiveBack{stream}};
}

Bytes MemoryPool::peak() const { return Read(cudaMemPoolAttrUsedMemHigh); }

Bytes MemoryPool::reserved() const { return Read(cudaMemPoolAttrReservedMemCurrent); }

Bytes MemoryPool::Read(cudaMemPoolAttr attribute) const {
  uint64_t bytes = 0;
  CHECK_CUDA(cudaMemPoolGetAttribute(pool_.get(), attribute, &bytes));
  return Bytes(static_cast<int64_t>(bytes));
}

}  // namespace stagecraft
