// Kernels other than those of ops: for the members of a collective on one GPU, for waiting, and for
// finding out on which multiprocessors a kernel runs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// The most members of a collective: no GPU has more parts.
constexpr int kMostMembers = 64;

// The buffers of all members, of 32-bit numbers.
struct MemberBuffers {
  float* of[kMostMembers];
  int count;
};

// Queues the part of member `own` in a collective on `numbers` numbers, in place; an all-to-all
// writes what it receives behind what it sends. Preconditions: all members' buffers are ready, and
// none is changed before all members are done. An all-reduce has two phases: in the first each
// member adds up its share of all buffers, in the second it gathers the shares of the others.
// Kernels have at most `blocks` thread blocks.
void QueueMemberShare(OpKind kind, int phase, const MemberBuffers& members, int own,
                      int64_t numbers, int blocks, cudaStream_t stream);

// Queues a kernel of one thread that runs for `time`.
void LaunchSpin(Duration time, cudaStream_t stream);

// Queues a kernel that ends when *gate is not zero, or after kLongestGate, since a host that the
// stream blocks could not open the gate.
constexpr Duration kLongestGate = Duration::Nanoseconds(500'000'000);
void LaunchGate(const volatile int* gate, cudaStream_t stream);

// Queues a kernel of very many thread blocks, which sets seen[i] to 1 for every multiprocessor on
// which any of them ran.
constexpr int kMostMultiprocessors = 1024;
void LaunchLook(int* seen, cudaStream_t stream);

}  // namespace stagecraft
