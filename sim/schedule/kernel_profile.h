// KernelProfile: what a profiler says about the kernels of a measured timeline, each of which is a
// task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// What a kernel does, as far as its name tells. All but the last four are kinds of ops.
enum class KernelClass : uint8_t {
  kGemm,
  kConvolution,
  kSparse,
  kAttention,
  kNorm,
  kSoftmax,
  kElementwise,
  kOptimizer,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendRecv,
  kProfiled,
  kCopy,   // copies within a device, and between it and its host; filling memory
  kPass,   // ops of several classes that were measured as a whole
  kOther,  // a kernel of which the name tells nothing
  kEmpty,  // no work
};
inline constexpr int kKernelClassCount = static_cast<int>(KernelClass::kEmpty) + 1;
const char* Name(KernelClass kind);
std::optional<KernelClass> FindKernelClass(std::string_view name);
KernelClass ClassOf(OpKind kind);
bool IsCommunication(KernelClass kind);

struct TracedKernel {
  int32_t name = 0;  // into KernelProfile::names
  KernelClass kind = KernelClass::kOther;
  int32_t layer = -1;  // of the network, as the program counts them; -1: not known
  // Whether the names around the kernel tell its phase. If not, the tag of the task says nothing.
  bool has_phase = false;
  // For how long a collective waited for its slowest rank, at most its duration. It is known only
  // if the traces of several ranks of the group were read.
  Duration waits;
  friend bool operator==(const TracedKernel&, const TracedKernel&) = default;
};

struct KernelProfile {
  std::vector<std::string> names;     // of distinct kernels
  std::vector<TracedKernel> kernels;  // by task
  int world_size = 0;                 // ranks of the job, of which some were recorded; 0: not known
  friend bool operator==(const KernelProfile&, const KernelProfile&) = default;
};

}  // namespace stagecraft
