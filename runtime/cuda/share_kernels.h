// Kernels beside those of ops: what members of a collective do on one board, waiting, and
// which multiprocessors a kernel runs on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// As many devices as a board has parts.
constexpr int kMostMembers = 64;

// Buffers of 32-bit numbers, by member.
struct MemberBuffers {
  float* of[kMostMembers];
  int count;
};

// Queues the part of member `own` in a collective on so many numbers, in place; of an all-to-all
// what is got lies behind what is sent. All members' buffers are ready, and none is changed
// before all members are done. An all-reduce is two phases: each member adds up its share of
// all, then gathers those of others. Kernels have at most so many blocks.
void QueueMemberShare(OpKind kind, int phase, const MemberBuffers& members, int own,
                      int64_t numbers, int blocks, cudaStream_t stream);

// Takes so long, on one thread.
void LaunchSpin(Duration time, cudaStream_t stream);

// Ends when *gate is no longer zero, or after kLongestGate: a host that the stream blocks
// could not open it.
constexpr Duration kLongestGate = Duration::Nanoseconds(5'000'000'000);
void LaunchGate(const volatile int* gate, cudaStream_t stream);

// Sets seen[i] to 1 for multiprocessors that any of very many blocks ran on.
constexpr int kMostMultiprocessors = 1024;
void LaunchLook(int* seen, cudaStream_t stream);

}  // namespace stagecraft
