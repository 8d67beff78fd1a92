// Kernels besides those of ops: the work of a collective's members on one GPU, waiting, and finding
// out on which multiprocessors a kernel runs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// As many devices as a GPU has parts.
constexpr int kMostMembers = 64;

// Buffers of 32-bit numbers, by member.
struct MemberBuffers {
  float* of[kMostMembers];
  int count;
};

// Queues the part of member `own` in a collective on `numbers` numbers, in place; for an all-to-all
// what is received lies behind what is sent. Preconditions: all members' buffers are ready, and
// none is changed before all members are done. An all-reduce has two phases: each member adds up
// its share of all buffers, then gathers the shares of the others. Kernels have at most `blocks`
// thread blocks.
void QueueMemberShare(OpKind kind, int phase, const MemberBuffers& members, int own,
                      int64_t numbers, int blocks, cudaStream_t stream);

// Runs for `time`, on one thread.
void LaunchSpin(Duration time, cudaStream_t stream);

// Ends when *gate is no longer zero, or after kLongestGate: a host that is blocked by the stream
// could not open it.
constexpr Duration kLongestGate = Duration::Nanoseconds(5'000'000'000);
void LaunchGate(const volatile int* gate, cudaStream_t stream);

// Sets seen[i] to 1 for every multiprocessor on which any of very many thread blocks ran.
constexpr int kMostMultiprocessors = 1024;
void LaunchLook(int* seen, cudaStream_t stream);

}  // namespace stagecraft
