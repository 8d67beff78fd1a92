// Kernels beside those of ops: what members of a collective do on one board, waiting, and
// which multiprocessors a kernel runs on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "costmodel/units.h"
#include "runtime/member_share.h"

namespace stagecraft {

// As many devices as a board has parts.
constexpr int kMostMembers = 64;

// Buffers of 32-bit numbers, by member.
struct MemberBuffers {
  float* of[kMostMembers];
  int count;
};

// own[i] = the sum over all members of their [i], for i in the share. Members may add up
// different shares at once.
void LaunchSum(const MemberBuffers& members, int own, MemberShare share, int blocks,
               cudaStream_t stream);

// Copies numbers.
void LaunchNumberCopy(float* to, const float* from, int64_t count, int blocks, cudaStream_t stream);

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
