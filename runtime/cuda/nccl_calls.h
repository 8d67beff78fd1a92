// The calls of NCCL that make up a collective.
#pragma once

#include <nccl.h>

#include <cstddef>

#include "costmodel/op.h"

namespace stagecraft {

struct NcclLibrary;

// One rank of a communicator, and the stream on which it queues its calls.
struct NcclMember {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  int rank = 0, size = 0;
};

// Buffers of 32-bit numbers. If both are the same buffer, a rank's own part lies at its place among
// the parts; an exchange needs two buffers.
struct NcclBuffers {
  const float* from = nullptr;
  float* to = nullptr;
  size_t count = 0;  // numbers in the whole buffer
  size_t part = 0;   // numbers in the part of one rank
};

// Queues this rank's calls for the collective, and returns the first failure. A collective with a
// root has root 0; send/recv is a ring of messages. What is direct (collectives.h) consists of
// several calls, which the caller must put into one NCCL group.
ncclResult_t QueueNcclCalls(OpKind kind, const NcclBuffers& buffers, const NcclMember& member,
                            const NcclLibrary& nccl);

}  // namespace stagecraft
