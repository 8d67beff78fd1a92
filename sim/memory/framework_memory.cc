#include "sim/memory/framework_memory.h"

namespace stagecraft {
namespace {

// PyTorch's default for CUBLAS_WORKSPACE_CONFIG: ":4096:2:16:8" (KiB x count, ...), and ":4096:8"
// on Hopper and later (aten/src/ATen/cuda/CublasHandlePool.cpp).
constexpr Bytes kBlasWorkspace((2 * 4096 + 8 * 16) << 10);
constexpr Bytes kHopperBlasWorkspace(32 << 20);
constexpr int64_t kBlasHandles = 2;
// get_cublas_workspace_size_bytes() of transformer_engine/pytorch/module/base.py.
constexpr Bytes kEngineWorkspace(4 << 20);
constexpr Bytes kHopperEngineWorkspace(32 << 20);

// 1.1e9 bytes is the difference between nvidia-smi and reserved memory that data/published records
// for PyTorch on V100 and A100. It is the one constant that is measured.
constexpr Bytes kContext(1'100'000'000);

// NCCL's default buffer for one channel and peer (NCCL_BUFFSIZE), the channels of a communicator
// inside a node, and the two directions, each of which has its own buffers.
constexpr Bytes kNcclBuffer(4 << 20);
constexpr int64_t kNcclChannels = 16;
constexpr int64_t kNcclDirections = 2;

}  // namespace

Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation) {
  const bool is_large = HasLargeWorkspace(generation);
  Bytes blas = framework.blas_workspace;
  if (blas == Bytes()) blas = is_large ? kHopperBlasWorkspace : kBlasWorkspace;
  const Bytes engine = is_large ? kHopperEngineWorkspace : kEngineWorkspace;
  return kBlasHandles * blas + (framework.has_transformer_engine ? engine : Bytes());
}

Bytes ContextMemory() { return kContext; }

Bytes NcclBuffers(int communicators) {
  return communicators * kNcclChannels * kNcclDirections * kNcclBuffer;
}

}  // namespace stagecraft
