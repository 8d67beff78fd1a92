// The calls of NCCL that make up a collective.
#pragma once

#include <nccl.h>

#include <cstddef>

#include "costmodel/op.h"

namespace stagecraft {

struct NcclLibrary;

// One rank of a communicator, and the stream that it queues on.
struct NcclMember {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  int rank = 0, size = 0;
};

// 32-bit numbers. Where both are one buffer, a rank's own part lies at its place among the parts;
// an exchange needs two.
struct NcclBuffers {
  const float* from = nullptr;
  float* to = nullptr;
  size_t count = 0;  // of the whole buffer
  size_t part = 0;   // of one rank's part
};

// Queues what this rank does of the collective, and returns the first failure. Rooted ones have
// the root 0; send/recv is a ring of messages. What is direct (collectives.h) is several calls,
// which the caller puts into one NCCL group.
ncclResult_t QueueNcclCalls(OpKind kind, const NcclBuffers& buffers, const NcclMember& member,
                            const NcclLibrary& nccl);

}  // namespace stagecraft
