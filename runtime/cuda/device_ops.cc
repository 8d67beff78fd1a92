#include "runtime/cuda/device_ops.h"

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/row_op.h"
#include "runtime/cuda/stream_op.h"

namespace stagecraft {
namespace {

std::string CudaVersion(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Returns the version of a library, to be appended to others; empty if the library is missing.
template <typename Library>
std::string VersionIn(Library& library) {
  try {
    return ", " + VersionOf(*library.Get());
  } catch (const Unsupported&) {
    return "";
  }
}

}  // namespace

std::unique_ptr<DeviceOp> DeviceOps::Make(const ProfileCase& one) {
  switch (one.op.kind) {
    case OpKind::kGemm:
      return MakeGemmOp(one, cublas_.Get(), products_);
    case OpKind::kAttention:
      return MakeAttentionOp(one, attention_library_->Get(), attention_);
    case OpKind::kNorm:
    case OpKind::kSoftmax:
      return MakeRowOp(one);
    case OpKind::kElementwise:
    case OpKind::kOptimizer:
      return MakeStreamOp(one);
    case OpKind::kSendRecv:
      return MakeHostCopy(one);
    default:
      throw Unsupported(std::string("no ") + Name(one.op.kind) + " on one device");
  }
}

std::string DeviceOps::Software() {
  int runtime = 0, driver = 0;
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  return "cuda " + CudaVersion(runtime) + ", driver for " + CudaVersion(driver) +
         VersionIn(cublas_) + VersionIn(*attention_library_);
}

}  // namespace stagecraft
