#include "runtime/cuda/nccl_calls.h"

#include "costmodel/check.h"
#include "runtime/cuda/nccl_library.h"

namespace stagecraft {
namespace {

constexpr int kRoot = 0;

// Queues an exchange, in which every rank has a part for every other.
ncclResult_t QueueExchange(const NcclBuffers& buffers, const NcclMember& member,
                           const NcclLibrary& nccl) {
  const auto& [from, to, count, part] = buffers;
  for (int peer = 0; peer < member.size; ++peer) {
    ncclResult_t status =
        nccl.Send(from + peer * part, part, ncclFloat, peer, member.communicator, member.stream);
    if (status != ncclSuccess) return status;
    status = nccl.Recv(to + peer * part, part, ncclFloat, peer, member.communicator, member.stream);
    if (status != ncclSuccess) return status;
  }
  return ncclSuccess;
}

ncclResult_t QueueRingOfMessages(const NcclBuffers& buffers, const NcclMember& member,
                                 const NcclLibrary& nccl) {
  const int next = (member.rank + 1) % member.size;
  const int last = (member.rank + member.size - 1) % member.size;
  const ncclResult_t status =
      nccl.Send(buffers.from, buffers.count, ncclFloat, next, member.communicator, member.stream);
  if (status != ncclSuccess) return status;
  return nccl.Recv(buffers.to, buffers.count, ncclFloat, last, member.communicator, member.stream);
}

}  // namespace

ncclResult_t QueueNcclCalls(OpKind kind, const NcclBuffers& buffers, const NcclMember& member,
                            const NcclLibrary& nccl) {
  const auto& [from, to, count, part] = buffers;
  const auto& [group, stream, rank, size] = member;
  const size_t own = from == to ? rank * part : 0;  // offset of this rank's part
  switch (kind) {
    case OpKind::kAllReduce:
      return nccl.AllReduce(from, to, count, ncclFloat, ncclSum, group, stream);
    case OpKind::kAllGather:
      return nccl.AllGather(from + own, to, part, ncclFloat, group, stream);
    case OpKind::kReduceScatter:
      return nccl.ReduceScatter(from, to + own, part, ncclFloat, ncclSum, group, stream);
    case OpKind::kBroadcast:
      return nccl.Broadcast(from, to, count, ncclFloat, kRoot, group, stream);
    case OpKind::kAllToAll:
      return QueueExchange(buffers, member, nccl);
    case OpKind::kSendRecv:
      return QueueRingOfMessages(buffers, member, nccl);
    default:
      CHECK(false);
  }
  return ncclInvalidArgument;
}

}  // namespace stagecraft
