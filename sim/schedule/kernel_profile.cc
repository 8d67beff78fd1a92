#include "sim/schedule/kernel_profile.h"

#include <array>

namespace stagecraft {
namespace {

struct ClassName {
  KernelClass kind;
  const char* name;
};
constexpr std::array<ClassName, kKernelClassCount> kNames = {{
    {KernelClass::kGemm, "gemm"},
    {KernelClass::kConvolution, "convolution"},
    {KernelClass::kSparse, "sparse"},
    {KernelClass::kAttention, "attention"},
    {KernelClass::kNorm, "norm"},
    {KernelClass::kSoftmax, "softmax"},
    {KernelClass::kElementwise, "elementwise"},
    {KernelClass::kOptimizer, "optimizer"},
    {KernelClass::kAllReduce, "all-reduce"},
    {KernelClass::kAllGather, "all-gather"},
    {KernelClass::kReduceScatter, "reduce-scatter"},
    {KernelClass::kAllToAll, "all-to-all"},
    {KernelClass::kBroadcast, "broadcast"},
    {KernelClass::kSendRecv, "send-recv"},
    {KernelClass::kProfiled, "profiled"},
    {KernelClass::kCopy, "copy"},
    {KernelClass::kPass, "pass"},
    {KernelClass::kOther, "other"},
    {KernelClass::kEmpty, "empty"},
}};

constexpr bool NamesFollowTheEnum() {
  for (int i = 0; i < kKernelClassCount; ++i) {
    if (static_cast<int>(kNames[i].kind) != i) return false;
  }
  return true;
}
static_assert(NamesFollowTheEnum());

}  // namespace

const char* Name(KernelClass kind) { return kNames[static_cast<int>(kind)].name; }

std::optional<KernelClass> FindKernelClass(std::string_view name) {
  for (const ClassName& entry : kNames) {
    if (name == entry.name) return entry.kind;
  }
  return {};
}

KernelClass ClassOf(OpKind kind) {
  switch (kind) {
    case OpKind::kNone:
      return KernelClass::kEmpty;
    case OpKind::kGemm:
      return KernelClass::kGemm;
    case OpKind::kAttention:
      return KernelClass::kAttention;
    case OpKind::kElementwise:
      return KernelClass::kElementwise;
    case OpKind::kOptimizer:
      return KernelClass::kOptimizer;
    case OpKind::kConvolution:
      return KernelClass::kConvolution;
    case OpKind::kAllReduce:
      return KernelClass::kAllReduce;
    case OpKind::kAllGather:
      return KernelClass::kAllGather;
    case OpKind::kReduceScatter:
      return KernelClass::kReduceScatter;
    case OpKind::kAllToAll:
      return KernelClass::kAllToAll;
    case OpKind::kBroadcast:
      return KernelClass::kBroadcast;
    case OpKind::kSendRecv:
      return KernelClass::kSendRecv;
    case OpKind::kProfiled:
      return KernelClass::kProfiled;
    case OpKind::kNorm:
      return KernelClass::kNorm;
    case OpKind::kSoftmax:
      return KernelClass::kSoftmax;
    case OpKind::kSparse:
      return KernelClass::kSparse;
  }
  return KernelClass::kOther;
}

bool IsCommunication(KernelClass kind) {
  return kind >= KernelClass::kAllReduce && kind <= KernelClass::kSendRecv;
}

}  // namespace stagecraft
