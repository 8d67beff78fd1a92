#include "sim/memory/framework_memory.h"

#include <algorithm>

namespace stagecraft {
namespace {

// The default of PyTorch for CUBLAS_WORKSPACE_CONFIG is ":4096:2:16:8" (KiB x count, ...), and
// ":4096:8" on Hopper and later (aten/src/ATen/cuda/CublasHandlePool.cpp).
constexpr Bytes kBlasWorkspace((2 * 4096 + 8 * 16) << 10);
constexpr Bytes kHopperBlasWorkspace(32 << 20);
constexpr int64_t kBlasHandles = 2;
// These are what get_cublas_workspace_size_bytes() returns
// (transformer_engine/pytorch/module/base.py).
constexpr Bytes kEngineWorkspace(4 << 20);
constexpr Bytes kHopperEngineWorkspace(32 << 20);

// This is the difference between nvidia-smi and reserved memory that data/published records for
// PyTorch on V100 and A100. It is the one constant that is measured.
constexpr Bytes kContext(1'100'000'000);

// A connection from one rank to another has a buffer for each of NCCL's protocols (init.cc,
// computeBuffSizes): simple 4 MiB; LL128 120 elements of 8 bytes x 640 threads x 8 steps; LL 8
// lines of 16 bytes x 512 threads x 8 steps.
constexpr Bytes kNcclConnection((4 << 20) + 120 * 8 * 640 * 8 + 8 * 16 * 512 * 8);
// A rank receives from one other in a ring, and from two in a chain of a tree, up and down. From
// one peer it receives over a single connection, whatever the algorithm (transport.cc,
// ncclTransportP2pConnect).
constexpr int64_t kNcclConnections = 3;

// Returns the number of channels that NCCL opens inside a node, as its log says ("Channel 00/24"):
// on the hybrid cube mesh of V100, behind NVSwitch since A100, and over PCIe.
int64_t NcclChannels(Generation generation) {
  switch (generation) {
    case Generation::kVolta:
      return 12;
    case Generation::kAmpere:
    case Generation::kHopper:
    case Generation::kBlackwell:
      return 24;
    default:
      return 4;
  }
}

}  // namespace

Bytes LibraryWorkspace(const FrameworkMemory& framework, Generation generation) {
  const bool is_large = HasLargeWorkspace(generation);
  Bytes blas = framework.blas_workspace;
  if (blas == Bytes()) blas = is_large ? kHopperBlasWorkspace : kBlasWorkspace;
  const Bytes engine = is_large ? kHopperEngineWorkspace : kEngineWorkspace;
  return kBlasHandles * blas + (framework.has_transformer_engine ? engine : Bytes());
}

Bytes ContextMemory() { return kContext; }

Bytes NcclBuffers(int64_t ranks, Generation generation) {
  const int64_t peers = std::max<int64_t>(0, ranks - 1);
  return NcclChannels(generation) * std::min(peers, kNcclConnections) * kNcclConnection;
}

const char* Name(CrossEntropy loss) {
  switch (loss) {
    case CrossEntropy::kInPlace:
      return "in-place";
    case CrossEntropy::kCopies:
      return "copies";
    case CrossEntropy::kEager:
      break;
  }
  return "eager";
}

const char* Name(UpdateKind update) {
  switch (update) {
    case UpdateKind::kFused:
      return "fused";
    case UpdateKind::kForeach:
      return "foreach";
    case UpdateKind::kDeepspeed:
      break;
  }
  return "deepspeed";
}

}  // namespace stagecraft
