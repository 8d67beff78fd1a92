// NcclWorld: the processes of a run, one for each rank, as NCCL connects them.
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

// All processes make one together, and call the methods marked "all together" in the same order.
class NcclWorld {
 public:
  // All together. Rank 0 listens at the address. Throws InputError if there is no NCCL, or if it
  // cannot connect the GPUs, as when two processes have the same one.
  explicit NcclWorld(const ProcessRank& process);
  // Gives up what is queued, which would not end if another process has failed. Must be destroyed
  // before the memory and streams with which it was queued.
  ~NcclWorld();
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;

  int rank() const { return rank_; }
  std::string Software() const;  // "nccl 2.28.9"

  // All together: makes communicators of the groups, of which this rank uses its own. A rank alone
  // needs none.
  void MakeGroups(std::span<const StreamGroup> groups);

  // All together.
  void Most(std::span<int64_t> values);                     // maximum over all, element-wise
  std::vector<std::string> Gather(const std::string& own);  // by rank, cut to 255 bytes
  void QueueBarrier(cudaStream_t stream);

  // The members of a group must queue these in the same order. Collectives work on `bytes` in
  // place; for an all-to-all what is received lies behind what is sent.
  void QueueCollective(OpKind kind, int32_t group, std::byte* buffer, int64_t bytes,
                       cudaStream_t stream);
  void QueueSend(int32_t group, const std::byte* buffer, int64_t bytes, cudaStream_t stream);
  void QueueReceive(int32_t group, std::byte* buffer, int64_t bytes, cudaStream_t stream);

  // Waits for a stream; throws if a process is gone.
  void Wait(cudaStream_t stream) const;

  // All together, when nothing is queued any more and nothing will be: what this process has for
  // others to fetch is sent before it ends.
  void Leave();

 private:
  std::vector<ncclComm_t> Communicators() const;
  std::byte* Scratch(size_t bytes);

  struct Group {
    ncclComm_t members = nullptr;  // nullptr: a group of others
    int size = 0;
    int own = 0;  // place of this rank
  };

  std::unique_ptr<NcclLibrary> nccl_;
  int rank_, size_;
  ncclComm_t world_ = nullptr;
  std::vector<Group> groups_;
  Stream stream_;
  DeviceMemory word_;  // of barriers
  // For Most() and Gather(). Memory of their own would be freed when an error leaves them, which
  // waits for the GPU, and so for the process that is gone.
  DeviceMemory scratch_;
};

}  // namespace stagecraft
