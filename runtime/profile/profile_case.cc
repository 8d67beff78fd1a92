#include "runtime/profile/profile_case.h"

namespace stagecraft {
namespace {

// Adam reads a 32-bit gradient, reads and writes a 32-bit parameter and two
// moments, and writes the 16-bit working copy.
constexpr StreamKernel kKernels[] = {
    {"copy_device", OpKind::kElementwise, 4},
    {"add", OpKind::kElementwise, 6},
    {"gelu", OpKind::kElementwise, 4},
    {"gelu_backward", OpKind::kElementwise, 6},
    {"swiglu", OpKind::kElementwise, 6},
    {"swiglu_backward", OpKind::kElementwise, 10},
    {"cast_from_fp32", OpKind::kElementwise, 6},
    {"scale_fp32", OpKind::kElementwise, 8},
    {"embedding", OpKind::kElementwise, 4},
    {"rms_norm", OpKind::kNorm, 4},
    {"rms_norm_backward", OpKind::kNorm, 6},
    {"layer_norm", OpKind::kNorm, 4},
    {"softmax", OpKind::kSoftmax, 4},
    {"softmax_backward", OpKind::kSoftmax, 6},
    {"adam", OpKind::kOptimizer, 30},
};

}  // namespace

std::span<const StreamKernel> StreamKernels() { return kKernels; }

const StreamKernel* FindStreamKernel(std::string_view name) {
  for (const StreamKernel& kernel : kKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace stagecraft
