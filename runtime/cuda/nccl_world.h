// NcclWorld: the processes of a run, one for each rank, that NCCL connects.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/process_rank.h"
#include "runtime/stream_program.h"

namespace stagecraft {

struct NcclLibrary;

// All processes must make one together, and call the methods marked "all together" in the same
// order.
class NcclWorld {
 public:
  // All together: connects the processes; rank 0 listens at the address. Throws InputError if there
  // is no NCCL, or if it cannot connect the GPUs, for instance because two processes have the same
  // one.
  explicit NcclWorld(const ProcessRank& process);
  // Aborts what is queued, which would not end if another process has failed. Must be destroyed
  // before the memory and streams that the queued work uses.
  ~NcclWorld();
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;

  int rank() const { return rank_; }
  std::string Software() const;  // "nccl 2.28.9"

  // All together: makes communicators of the groups, of which this rank uses its own. A rank alone
  // needs none.
  void MakeGroups(std::span<const StreamGroup> groups);

  // All together.
  void Most(std::span<int64_t> values);  // replaces each element by its maximum over all
  std::vector<std::string> Gather(const std::string& own);  // by rank, each cut to 255 bytes
  void QueueBarrier(cudaStream_t stream);

  // The members of a group must queue these in the same order. A collective works in place on
  // `bytes` bytes; an all-to-all writes what it receives behind what it sends.
  void QueueCollective(OpKind kind, int32_t group, std::byte* buffer, int64_t bytes,
                       cudaStream_t stream);
  void QueueSend(int32_t group, const std::byte* buffer, int64_t bytes, cudaStream_t stream);
  void QueueReceive(int32_t group, std::byte* buffer, int64_t bytes, cudaStream_t stream);

  // Waits for a stream; throws if another process has failed.
  void Wait(cudaStream_t stream) const;

  // All together, when nothing is queued any more: sends everything that other processes still
  // fetch from this one, before it ends. Nothing may be queued afterwards.
  void Leave();

 private:
  std::vector<ncclComm_t> Communicators() const;
  std::byte* Scratch(size_t bytes);

  struct Group {
    ncclComm_t members = nullptr;  // nullptr: this rank is not in the group
    int size = 0;
    int own = 0;  // position of this rank in the group
  };

  std::unique_ptr<NcclLibrary> nccl_;
  int rank_, size_;
  ncclComm_t world_ = nullptr;
  std::vector<Group> groups_;
  Stream stream_;
  DeviceMemory word_;  // for barriers
  // For Most() and Gather(). If they allocated memory of their own, an error in them would free it,
  // which waits for the GPU, and so for the process that has failed.
  DeviceMemory scratch_;
};

}  // namespace stagecraft
