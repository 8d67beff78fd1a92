// NcclWorld: the processes of a run, one a rank, as NCCL connects them.
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

// All processes together make one, and call what is marked so in the same order.
class NcclWorld {
 public:
  // All together. Rank 0 listens at the address. Throws InputError where there is no NCCL, or it
  // cannot connect the boards, as when two processes have the same one.
  explicit NcclWorld(const ProcessRank& process);
  // Gives up what is queued, which would not end where another process failed. Goes before memory
  // and streams that it was queued with.
  ~NcclWorld();
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;

  int rank() const { return rank_; }
  std::string Software() const;  // "nccl 2.28.9"

  // All together: communicators of the groups, of which this rank uses its own. One
  // rank alone needs none.
  void MakeGroups(std::span<const StreamGroup> groups);

  // All together.
  void Most(std::span<int64_t> values);                     // element by element, of all
  std::vector<std::string> Gather(const std::string& own);  // by rank, cut off at 255 bytes
  void QueueBarrier(cudaStream_t stream);

  // A group's members queue these in the same order. Of `bytes` in place; of an all-to-all
  // what is got lies behind what is sent.
  void QueueCollective(OpKind kind, int32_t group, std::byte* buffer, int64_t bytes,
                       cudaStream_t stream);
  void QueueSend(int32_t group, const std::byte* buffer, int64_t bytes, cudaStream_t stream);
  void QueueReceive(int32_t group, std::byte* buffer, int64_t bytes, cudaStream_t stream);

  // Waits for a stream; throws where a process is gone.
  void Wait(cudaStream_t stream) const;

  // All together, when nothing is queued any more and nothing will be: what this process has for
  // others to fetch is sent before it goes.
  void Leave();

 private:
  std::vector<ncclComm_t> Communicators() const;
  std::byte* Scratch(size_t bytes);

  struct Group {
    ncclComm_t members = nullptr;  // none: of others
    int size = 0;
    int own = 0;  // place of this rank
  };

  std::unique_ptr<NcclLibrary> nccl_;
  int rank_, size_;
  ncclComm_t world_ = nullptr;
  std::vector<Group> groups_;
  Stream stream_;
  DeviceMemory word_;  // of barriers
  // Of Most() and Gather(); a piece of their own would be freed as an error leaves them, which
  // waits for the board, and so for the process that is gone.
  DeviceMemory scratch_;
};

}  // namespace stagecraft
