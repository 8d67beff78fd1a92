// CUDA's runtime: memory, copies and pools.
#include <cstring>

#include "runtime/cuda/stand_in/runtime_call.h"

using stagecraft::stand_in::Heap;
using stagecraft::stand_in::Range;
using stagecraft::stand_in::Work;

namespace {

// The time of a copy is a latency, in nanoseconds, plus its bytes over a rate, in bytes per
// nanosecond.
constexpr int64_t kCopyLatency = 2'000, kHostLatency = 8'000;
constexpr double kDeviceRate = 1400, kHostRate = 50;
// The most bytes that a program reads as an answer of the GPU.
constexpr size_t kMostOfAnswer = 1 << 14;

cudaError_t AllocateAs(void** memory, size_t bytes, Heap::Kind kind) {
  Gpu& gpu = Gpu::Get();
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (kind == Heap::Kind::kDevice && !gpu.Reserve(gpu.current_device, bytes)) {
    return Fail(cudaErrorMemoryAllocation);
  }
  *memory = gpu.heap.Allocate(bytes, kind);
  return cudaSuccess;
}

// Frees memory. Waits for the GPU, as CUDA's function does.
void FreeAs(void* memory, Heap::Kind kind) {
  if (memory == nullptr) return;
  Gpu& gpu = Gpu::Get();
  gpu.time.WaitForAll();
  gpu.unawaited.clear();
  if (!gpu.heap.IsOfKind(memory, kind)) {
    BreakContract(
        "memory is freed that was not allocated by the matching call, or is freed already");
  }
  if (kind == Heap::Kind::kDevice) {
    gpu.reserved[static_cast<size_t>(gpu.current_device)] -= gpu.heap.BytesOf(memory);
  }
  gpu.heap.Release(memory);
}

Range RangeOf(const void* memory, size_t bytes) {
  return {static_cast<const std::byte*>(memory), bytes};
}

// Copies memory. Host memory that is not pinned is read before the call returns, or written before
// it returns.
void QueueCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  Gpu& gpu = Gpu::Get();
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool is_inside = to_device && from_device;
  const double rate = is_inside ? kDeviceRate : kHostRate;
  Work work{.name = "a copy",
            .duration = (is_inside ? kCopyLatency : kHostLatency) +
                        static_cast<int64_t>(static_cast<double>(bytes) / rate),
            .is_answer = bytes <= kMostOfAnswer};
  if (to_device) work.touched.push_back(RangeOf(to, bytes));
  if (from_device) work.touched.push_back(RangeOf(from, bytes));
  work.effect = [=] { std::memmove(to, from, bytes); };
  if (!from_device && !gpu.heap.IsPinned(from) && gpu.DoesWork(work)) {
    const auto* const begin = static_cast<const std::byte*>(from);
    work.effect = [to, copy = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, copy.data(), copy.size());
    };
  }
  if (to_device && stream == gpu.default_stream) gpu.unawaited.push_back(RangeOf(to, bytes));
  const auto end = gpu.Give(stream, std::move(work));
  if (!to_device && !gpu.heap.IsPinned(to) && end != nullptr) gpu.time.WaitFor(*end);
}

void QueueFill(void* memory, int value, size_t bytes, cudaStream_t stream) {
  Gpu& gpu = Gpu::Get();
  if (stream == gpu.default_stream) gpu.unawaited.push_back(RangeOf(memory, bytes));
  gpu.Give(stream, {.name = "cudaMemset",
                    .duration = kCopyLatency +
                                static_cast<int64_t>(static_cast<double>(bytes) / kDeviceRate),
                    .touched = {RangeOf(memory, bytes)},
                    .effect = [=] { std::memset(memory, value, bytes); },
                    .is_answer = bytes <= kMostOfAnswer});
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  ENTER(cudaErrorMemoryAllocation);
  return AllocateAs(memory, bytes, Heap::Kind::kDevice);
}
cudaError_t cudaFree(void* memory) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  FreeAs(memory, Heap::Kind::kDevice);
  return result;
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  ENTER(cudaErrorMemoryAllocation);
  return AllocateAs(memory, bytes, Heap::Kind::kPinned);
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER(cudaErrorMemoryAllocation);
  return AllocateAs(memory, bytes, Heap::Kind::kPinned);
}
cudaError_t cudaFreeHost(void* memory) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  FreeAs(memory, Heap::Kind::kPinned);
  return result;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* all) {
  ENTER(cudaErrorUnknown);
  const Gpu& gpu = Gpu::Get();
  *all = gpu.played.memory;
  *free = *all - gpu.reserved[static_cast<size_t>(gpu.current_device)];
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  QueueCopy(to, from, bytes, kind, StreamOf(stream));
  return cudaSuccess;
}
// When this returns, what it read from memory that is not pinned may still be on its way to the
// GPU.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  ENTER(cudaErrorUnknown);
  Gpu& gpu = Gpu::Get();
  QueueCopy(to, from, bytes, kind, gpu.default_stream);
  const bool may_return_before = kind == cudaMemcpyDeviceToDevice ||
                                 (kind == cudaMemcpyHostToDevice && !gpu.heap.IsPinned(from));
  if (!may_return_before) gpu.WaitFor(gpu.default_stream);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  ENTER(cudaErrorUnknown);
  QueueFill(memory, value, bytes, StreamOf(stream));
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  ENTER(cudaErrorUnknown);
  QueueFill(memory, value, bytes, Gpu::Get().default_stream);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  ENTER(cudaErrorMemoryAllocation);
  *pool = Gpu::Get().pools.Make({.device = properties->location.id});
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu& gpu = Gpu::Get();
  if (gpu.pools.Get(pool, "a memory pool").used > 0) {
    BreakContract("a memory pool is destroyed before all of its memory was given back");
  }
  gpu.reserved[static_cast<size_t>(pool->device)] -= pool->reserved;
  gpu.pools.Destroy(pool, "a memory pool");
  return result;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  ENTER(cudaErrorUnknown);
  if (attribute != cudaMemPoolAttrReleaseThreshold) return Fail(cudaErrorNotSupported);
  std::memcpy(&Gpu::Get().pools.Get(pool, "a memory pool").threshold, value, sizeof(uint64_t));
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  ENTER(cudaErrorUnknown);
  const CUmemPoolHandle_st& own = Gpu::Get().pools.Get(pool, "a memory pool");
  uint64_t bytes = 0;
  if (attribute == cudaMemPoolAttrUsedMemHigh)
    bytes = own.most_used;
  else if (attribute == cudaMemPoolAttrReservedMemCurrent)
    bytes = own.reserved;
  else
    return Fail(cudaErrorNotSupported);
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

// The memory is alive from this place in the order of the stream; memory of a pool is not reused.
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  ENTER(cudaErrorMemoryAllocation);
  Gpu& gpu = Gpu::Get();
  CUmemPoolHandle_st& own = gpu.pools.Get(pool, "a memory pool");
  stream = StreamOf(stream);
  if (stream->is_capturing) return Spoil(stream);
  const size_t used = own.used + bytes;
  if (used > own.reserved) {
    if (!gpu.Reserve(own.device, used - own.reserved)) return Fail(cudaErrorMemoryAllocation);
    own.reserved = used;
  }
  own.used = used;
  own.most_used = std::max(own.most_used, used);
  std::byte* const made = gpu.heap.Allocate(bytes, Heap::Kind::kPool, !gpu.played.checks_memory());
  gpu.pool_of[made] = pool;
  *memory = made;
  gpu.Give(stream,
           {.name = "an allocation", .ownership = [made] { Gpu::Get().heap.Revive(made); }});
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  const cudaError_t result = RESULT_OF_RELEASE(cudaErrorUnknown);
  Gpu& gpu = Gpu::Get();
  if (!gpu.heap.IsOfKind(memory, Heap::Kind::kPool)) {
    BreakContract(
        "memory is given back to a pool that is not from a pool, or was given back already");
  }
  gpu.heap.GiveBack(memory);
  gpu.pool_of.at(memory)->used -= gpu.heap.BytesOf(memory);
  gpu.pool_of.erase(memory);
  const auto release = [memory] { Gpu::Get().heap.Release(memory); };
  if (!gpu.played.checks_memory()) release();
  gpu.Give(StreamOf(stream), {.name = "a release", .ownership = release});
  return result;
}

}  // extern "C"
