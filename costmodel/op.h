// Op: one unit of work with all that determines its cost, on one rank.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "costmodel/device.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {

enum class OpKind {
  kNone,         // no work: a point in time that other tasks wait for
  kGemm,         // batch x (m,k)·(k,n); if there are several kernels, each does m / kernels rows
  kAttention,    // fused attention over `batch` heads: m queries, n keys, head size k
  kElementwise,  // moves `bytes` through memory: activation functions, casts, residuals
  kOptimizer,    // moves `bytes` of parameters and states once
  kConvolution,  // batch (groups) x (m,k)·(k,n) over windows; operands are `bytes` in memory
  kAllReduce,    // collectives: `bytes` is the full buffer of one rank, as
  kAllGather,    // nccl-tests counts it
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendRecv,  // `bytes` one way over `fabric.intra`, or `inter` if nodes > 1
  kProfiled,  // any work that takes `m` times `profiled`
  kNorm,      // layer norm or RMS norm of m rows of n; moves `bytes`, fully fused
  kSoftmax,   // softmax of m rows of n; moves `bytes`, fully fused
  // batch x (m,k)·(k,n), of which the second operand has `nonzeros` entries; backward: the entries
  // of its gradient alone, (k,m)·(m,n) at these places
  kSparse,
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::kSparse) + 1;
const char* Name(OpKind kind);
bool IsCollective(OpKind kind);  // those that have a row in collectives.h

// Whether the kind multiplies matrices: batch, m, n and k are their sizes.
constexpr bool HasOperands(OpKind kind) {
  return kind == OpKind::kGemm || kind == OpKind::kAttention || kind == OpKind::kConvolution ||
         kind == OpKind::kSparse;
}
// Whether the kind works on elements of a number format in m rows of n.
constexpr bool HasRows(OpKind kind) {
  return HasOperands(kind) || kind == OpKind::kNorm || kind == OpKind::kSoftmax;
}
// The fewest launches that an op of the kind may have.
constexpr int FewestKernels(OpKind kind) { return kind == OpKind::kElementwise ? 0 : 1; }

// Bytes at whose multiples the rows of matrices begin if kernels can load them whole.
inline constexpr int kAlignedBytes = 16;
// Whether Op::alignment may have this value: a power of two up to kAlignedBytes, and below it for a
// GEMM only.
constexpr bool CanBeAligned(OpKind kind, int64_t bytes) {
  const bool is_power = bytes >= 1 && bytes <= kAlignedBytes && (bytes & (bytes - 1)) == 0;
  return is_power && (kind == OpKind::kGemm || bytes == kAlignedBytes);
}

enum class Direction { kForward, kBackward };

// How a product of a sparse matrix runs: from its entries, or after these were written into a dense
// one (backward: before they are picked from one). kFaster: as the cost model says
// (sparse_product.h).
enum class SparseProduct { kFaster, kFromEntries, kExpanded };
const char* Name(SparseProduct product);

// Attention layers of a serving framework also write keys and values to their cache and prepare
// each sequence; those of a training step do not.
enum class AttentionUse { kTraining, kServing };

// Which kernel computes attention. kFlash: the version of FlashAttention written for the GPU's
// generation, which is 3 on Hopper and 2 before (it was not measured on Blackwell); kFlash1 to
// kFlash3 name one. kFused: a fused kernel of a vendor's library on Blackwell (TensorRT-LLM,
// CUTLASS). kTriton: compiled by Triton. kUsual: kFused on Blackwell, else kFlash; kCudnn is taken
// to be as fast as that.
enum class AttentionKernel {
  kUsual,
  kFlash,
  kFused,
  kTriton,
  kFlash1,
  kFlash2,
  kFlash3,
  kCudnn,
};
const char* Name(AttentionKernel kernel);

// Op is a value: equal ops cost the same on equal devices. Fields that a kind does not use stay
// zero.
struct Op {
  OpKind kind = OpKind::kNone;
  DType dtype = DType::kBf16;
  Direction direction = Direction::kForward;   // attention and sparse products only
  bool causal = false;                         // attention only
  AttentionUse use = AttentionUse::kTraining;  // attention only
  AttentionKernel attention_kernel = AttentionKernel::kUsual;
  bool converts_keys = false;  // attention only: keys and values of 8 bits, queries of 16
  int64_t sequences = 1;       // attention only
  int64_t kv_batch = 0;        // attention only: heads of keys and values; 0: as many as `batch`
  SparseProduct product = SparseProduct::kFaster;  // kSparse only
  int64_t nonzeros = 0;  // kSparse only: entries of each of the `batch` sparse matrices, <= k x n
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  // kGemm only: the rows of all matrices begin at multiples of this many bytes in memory; a power
  // of two, at most kAlignedBytes. Tensor cores are slower if it is less (kernel_terms.h).
  int alignment = kAlignedBytes;
  Bytes bytes;  // memory traffic of elementwise and optimizer; buffer of collectives
  // Launches that make up this op. 0, elementwise only: it has no launch of its own, since the
  // kernel of the op before it does it, too; an executor may run it as a kernel of its own.
  int kernels = 1;
  Fabric fabric;      // collectives and send/recv only
  GradientSync sync;  // kAllReduce only: the method, if not NCCL's; servers are not in `fabric`
  Duration profiled;  // kProfiled only: the time of one on the device where it was measured

  // The arithmetic of this op; zero if it only moves bytes.
  FlopCount Flops() const;
  // Bytes through device memory, each operand counted once.
  Bytes Traffic() const;

  static Op Gemm(DType dtype, int64_t m, int64_t n, int64_t k, int64_t batch = 1);
  // As above, of matrices whose rows have these numbers of elements, without gaps between them. In
  // 32 bits, which vector units multiply, rows count as aligned.
  static Op GemmOfRows(DType dtype, int64_t m, int64_t n, int64_t k, int64_t batch,
                       std::initializer_list<int64_t> rows);
  static Op Convolution(DType dtype, int64_t groups, int64_t m, int64_t n, int64_t k,
                        Bytes traffic);
  static Op Sparse(DType dtype, Direction direction, int64_t m, int64_t n, int64_t k,
                   int64_t nonzeros, int64_t batch = 1);
  static Op Attention(DType dtype, Direction direction, int64_t batch_heads, int64_t queries,
                      int64_t keys, int64_t head_size, bool causal);
  static Op Elementwise(Bytes traffic, int kernels = 1);
  // Makes a kNorm or a kSoftmax.
  static Op Rowwise(OpKind kind, DType dtype, int64_t rows, int64_t width, Bytes traffic,
                    int kernels = 1);
  static Op Optimizer(Bytes traffic, int kernels);
  static Op Collective(OpKind kind, Bytes buffer, const Fabric& fabric);
  static Op Profiled(int64_t times, Duration profiled);

  friend bool operator==(const Op&, const Op&) = default;
};

// Returns the number of elements of a GEMM's operands, each counted once. Readers refuse ops with
// more than kMostOperands, which keeps Op::Traffic() within 64 bits.
double Operands(const Op& op);
inline constexpr double kMostOperands = 1e17;

size_t HashOf(const Op& op);

// Returns a line for people: "gemm 4096x8192x1024 bf16".
std::string Describe(const Op& op);

}  // namespace stagecraft

template <>
struct std::hash<stagecraft::Op> {
  size_t operator()(const stagecraft::Op& op) const { return stagecraft::HashOf(op); }
};
