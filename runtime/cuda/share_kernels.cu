#include <algorithm>

#include "costmodel/collectives.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/member_share.h"

namespace stagecraft {
namespace {

constexpr int kThreads = 256;
// The thread blocks of LaunchLook() are more than fit on any GPU at once, and each lasts long
// enough that they spread over all multiprocessors.
constexpr int kLookBlocks = 8192;
constexpr int64_t kLookNanoseconds = 20'000;

__device__ int64_t Now() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return static_cast<int64_t>(time);
}

__global__ void Sum(MemberBuffers members, int own, int64_t begin, int64_t end) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = begin + static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end;
       i += stride) {
    float sum = 0;
    for (int member = 0; member < members.count; ++member) sum += members.of[member][i];
    members.of[own][i] = sum;
  }
}

__global__ void CopyNumbers(float* to, const float* from, int64_t count) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

__global__ void Spin(int64_t nanoseconds) {
  const int64_t begin = Now();
  while (Now() - begin < nanoseconds) {
  }
}

__global__ void WaitForGate(const volatile int* gate, int64_t longest) {
  const int64_t begin = Now();
  while (*gate == 0 && Now() - begin < longest) __nanosleep(500);
}

__global__ void Look(int* seen, int64_t nanoseconds) {
  unsigned own = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
  if (own < kMostMultiprocessors) seen[own] = 1;
  const int64_t begin = Now();
  while (Now() - begin < nanoseconds) {
  }
}

unsigned BlocksFor(int64_t count, int most) {
  const int64_t wanted = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, std::max(1, most)));
}

void LaunchSum(const MemberBuffers& members, int own, MemberShare share, int blocks,
               cudaStream_t stream) {
  if (share.count() == 0) return;
  Sum<<<BlocksFor(share.count(), blocks), kThreads, 0, stream>>>(members, own, share.begin,
                                                                 share.end);
  CHECK_CUDA(cudaGetLastError());
}

void LaunchCopy(float* to, const float* from, int64_t count, int blocks, cudaStream_t stream) {
  if (count == 0) return;
  CopyNumbers<<<BlocksFor(count, blocks), kThreads, 0, stream>>>(to, from, count);
  CHECK_CUDA(cudaGetLastError());
}

}  // namespace

void QueueMemberShare(OpKind kind, int phase, const MemberBuffers& members, int own,
                      int64_t numbers, int blocks, cudaStream_t stream) {
  const auto share_of = [&](int member) { return MemberShare::Of(numbers, members.count, member); };
  const MemberShare share = share_of(own);
  const Collective& collective = CollectiveOf(kind);
  if (collective.reduces && phase == 0) {
    return LaunchSum(members, own, share, blocks, stream);
  }
  float* const to = members.of[own];
  if (collective.before == Holding::kOne) {
    if (own != 0) LaunchCopy(to, members.of[0], numbers, blocks, stream);
    return;
  }
  for (int other = 0; other < members.count; ++other) {
    const MemberShare theirs = share_of(other);
    const float* const from = members.of[other];
    if (collective.IsExchange()) {
      const int64_t count = std::min(share.count(), theirs.count());
      LaunchCopy(to + numbers + theirs.begin, from + share.begin, count, blocks, stream);
    } else if (other != own) {
      LaunchCopy(to + theirs.begin, from + theirs.begin, theirs.count(), blocks, stream);
    }
  }
}

void LaunchSpin(Duration time, cudaStream_t stream) {
  Spin<<<1, 1, 0, stream>>>(time.ns());
  CHECK_CUDA(cudaGetLastError());
}

void LaunchGate(const volatile int* gate, cudaStream_t stream) {
  WaitForGate<<<1, 1, 0, stream>>>(gate, kLongestGate.ns());
  CHECK_CUDA(cudaGetLastError());
}

void LaunchLook(int* seen, cudaStream_t stream) {
  Look<<<kLookBlocks, kThreads, 0, stream>>>(seen, kLookNanoseconds);
  CHECK_CUDA(cudaGetLastError());
}

}  // namespace stagecraft
