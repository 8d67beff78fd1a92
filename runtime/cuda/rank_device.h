// RankDevice: the streams, ops and memory that one rank has on its GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/memory_pool.h"
#include "runtime/cuda/rank_ops.h"
#include "runtime/planned_memory.h"
#include "runtime/stream_program.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class RankDevice {
 public:
  // Sets the rank up on the current device. `make_stream` makes streams on its `multiprocessors`
  // (0: all of the GPU). Runs of ops become graphs if graphs keep to the rank's part of the GPU.
  // The memory is what `planned` says, or more if ops need more; nullptr: what they need. Ranks of
  // one device share the library of attention. The schedule must outlive the object. Throws
  // InputError if there is too little memory, or if an op cannot run here; AttentionRefused if such
  // an op is fused attention.
  RankDevice(
      const Schedule& schedule, const StreamProgram& program, int32_t rank, int gpu,
      int multiprocessors, const std::function<Stream()>& make_stream,
      const PlannedMemory* planned = nullptr,
      std::shared_ptr<LazyAttentionLibrary> attention = std::make_shared<LazyAttentionLibrary>());
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  int32_t rank() const { return rank_; }
  // Returns the number of thread blocks that fill the multiprocessors of the rank.
  int blocks() const { return blocks_; }
  const std::map<int32_t, Stream>& streams() const { return streams_; }  // by id in the program
  cudaStream_t stream(int32_t id) const { return streams_.at(id).get(); }
  // Returns the buffer for what a stream of this rank or of another exchanges.
  std::byte* buffer(int32_t stream) const { return buffers_.at(stream); }
  RankOps& ops() { return *ops_; }
  // Queue the allocations and frees at the begin or the end of a task; return how many they queued.
  int BeginTask(TaskId task, cudaStream_t stream);
  int EndTask(TaskId task, cudaStream_t stream);
  const MemoryPool& pool() const { return pool_; }
  bool uses_graphs() const { return uses_graphs_; }

 private:
  // Allocates at least `least` bytes for operands, results and exchanges, and places these there.
  void Place(const Schedule& schedule, const StreamProgram& program, Bytes least);
  int Allocate(const std::vector<Allocation>& allocations, cudaStream_t stream);

  int32_t rank_;
  int blocks_ = 0;
  bool uses_graphs_ = true;
  MemoryPool pool_;
  std::map<int32_t, Stream> streams_;
  Stream home_;  // for work before the first step
  std::unique_ptr<RankOps> ops_;
  MemoryPool::Memory memory_;  // for operands, results and exchanges
  std::map<int32_t, std::byte*> buffers_;
  std::map<TaskId, TaskAllocations> allocations_;
  std::map<int32_t, MemoryPool::Memory> blocks_held_;
};

}  // namespace stagecraft
