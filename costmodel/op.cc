#include "costmodel/op.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "costmodel/collectives.h"
#include "costmodel/hash.h"

namespace stagecraft {

const char* Name(OpKind kind) {
  switch (kind) {
    case OpKind::kNone:
      return "none";
    case OpKind::kGemm:
      return "gemm";
    case OpKind::kAttention:
      return "attention";
    case OpKind::kElementwise:
      return "elementwise";
    case OpKind::kOptimizer:
      return "optimizer";
    case OpKind::kConvolution:
      return "convolution";
    case OpKind::kProfiled:
      return "profiled";
    case OpKind::kNorm:
      return "norm";
    case OpKind::kSoftmax:
      return "softmax";
    case OpKind::kSparse:
      return "sparse";
    default:
      return CollectiveOf(kind).name;
  }
}

namespace {

// What an op reads or writes of its sparse matrix: the entries, the number of the column of each,
// where rows begin, and the dense matrix, which is written and read if there is one.
Bytes MatrixBytes(const Op& op) {
  constexpr int64_t kIndexBytes = 4;
  const int64_t indices = op.batch * (op.nonzeros + op.n + 1);
  const int64_t dense = op.product == SparseProduct::kExpanded ? 2 * op.batch * op.k * op.n : 0;
  return TensorBytes(op.dtype, op.batch * op.nonzeros + dense) + Bytes(kIndexBytes * indices);
}

}  // namespace

FlopCount Op::Flops() const {
  const double products = static_cast<double>(batch) * static_cast<double>(m) *
                          static_cast<double>(n) * static_cast<double>(k);
  if (kind == OpKind::kGemm || kind == OpKind::kConvolution) return FlopCount(2 * products);
  if (kind == OpKind::kSparse) {
    const double entries = static_cast<double>(batch) * static_cast<double>(nonzeros);
    const bool is_dense = product == SparseProduct::kExpanded;
    return FlopCount(2 * (is_dense ? products : static_cast<double>(m) * entries));
  }
  if (kind != OpKind::kAttention) return FlopCount(0);
  // Forward: scores and context. Backward: five GEMMs, among them the scores again (Dao,
  // FlashAttention-2, section 3.1).
  const double matrix_products = direction == Direction::kForward ? 2 : 5;
  return FlopCount(2 * matrix_products * products * (causal ? 0.5 : 1.0));
}

Bytes Op::Traffic() const {
  switch (kind) {
    case OpKind::kGemm:
      return TensorBytes(dtype, batch * (m * k + k * n)) +
             TensorBytes(WorkingType(dtype), batch * m * n);
    case OpKind::kAttention: {
      const int64_t heads = kv_batch > 0 ? kv_batch : batch;
      const int64_t once = 2 * (batch * m + heads * n) * k;  // queries, output, keys, values
      return TensorBytes(dtype, once * (direction == Direction::kForward ? 1 : 2));
    }
    case OpKind::kSparse:
      return TensorBytes(dtype, batch * (m * k + m * n)) + MatrixBytes(*this);
    case OpKind::kElementwise:
    case OpKind::kOptimizer:
    case OpKind::kConvolution:
    case OpKind::kNorm:
    case OpKind::kSoftmax:
      return bytes;
    default:
      return Bytes(0);
  }
}

double Operands(const Op& op) {
  const double m = static_cast<double>(op.m);
  const double n = static_cast<double>(op.n);
  const double k = static_cast<double>(op.k);
  return static_cast<double>(op.batch) * (m * k + k * n + m * n);
}

Op Op::Gemm(DType dtype, int64_t m, int64_t n, int64_t k, int64_t batch) {
  Op op;
  op.kind = OpKind::kGemm;
  op.dtype = dtype;
  op.batch = batch;
  op.m = m;
  op.n = n;
  op.k = k;
  return op;
}

Op Op::GemmOfRows(DType dtype, int64_t m, int64_t n, int64_t k, int64_t batch,
                  std::initializer_list<int64_t> rows) {
  Op op = Gemm(dtype, m, n, k, batch);
  if (dtype == DType::kFp32) return op;
  const int64_t aligned_bits = 8 * kAlignedBytes;
  for (const int64_t elements : rows) {
    const int64_t bits = std::gcd(elements * ElementBits(dtype), aligned_bits);
    op.alignment = std::min(op.alignment, static_cast<int>(std::max<int64_t>(1, bits / 8)));
  }
  return op;
}

Op Op::Convolution(DType dtype, int64_t groups, int64_t m, int64_t n, int64_t k, Bytes traffic) {
  Op op = Gemm(dtype, m, n, k, groups);
  op.kind = OpKind::kConvolution;
  op.bytes = traffic;
  return op;
}

Op Op::Sparse(DType dtype, Direction direction, int64_t m, int64_t n, int64_t k, int64_t nonzeros,
              int64_t batch) {
  Op op = Gemm(dtype, m, n, k, batch);
  op.kind = OpKind::kSparse;
  op.direction = direction;
  op.nonzeros = nonzeros;
  return op;
}

Op Op::Attention(DType dtype, Direction direction, int64_t batch_heads, int64_t queries,
                 int64_t keys, int64_t head_size, bool causal) {
  Op op;
  op.kind = OpKind::kAttention;
  op.dtype = dtype;
  op.direction = direction;
  op.batch = batch_heads;
  op.m = queries;
  op.n = keys;
  op.k = head_size;
  op.causal = causal;
  return op;
}

Op Op::Elementwise(Bytes traffic, int kernels) {
  Op op;
  op.kind = OpKind::kElementwise;
  op.bytes = traffic;
  op.kernels = kernels;
  return op;
}

Op Op::Rowwise(OpKind kind, DType dtype, int64_t rows, int64_t width, Bytes traffic, int kernels) {
  Op op = Elementwise(traffic, kernels);
  op.kind = kind;
  op.dtype = dtype;
  op.m = rows;
  op.n = width;
  return op;
}

Op Op::Optimizer(Bytes traffic, int kernels) {
  Op op;
  op.kind = OpKind::kOptimizer;
  op.bytes = traffic;
  op.kernels = kernels;
  return op;
}

Op Op::Collective(OpKind kind, Bytes buffer, const Fabric& fabric) {
  Op op;
  op.kind = kind;
  op.bytes = buffer;
  op.fabric = fabric;
  return op;
}

Op Op::Profiled(int64_t times, Duration profiled) {
  Op op;
  op.kind = OpKind::kProfiled;
  op.m = times;
  op.profiled = profiled;
  return op;
}

namespace {

const char* NameOfCollective(const Op& op) {
  const bool is_plain = op.sync.method == SyncMethod::kAllReduce;
  return is_plain ? Name(op.kind) : Name(op.sync.method);
}

}  // namespace

std::string Describe(const Op& op) {
  switch (op.kind) {
    case OpKind::kNone:
      return "none";
    case OpKind::kConvolution:
      return fmt::format("convolution {} of {}x{}x{} {}", op.batch, op.m, op.n, op.k,
                         Name(op.dtype));
    case OpKind::kGemm:
      return fmt::format("gemm {}{}x{}x{} {}{}",
                         op.batch == 1 ? "" : fmt::format("{} of ", op.batch), op.m, op.n, op.k,
                         Name(op.dtype),
                         op.alignment == kAlignedBytes
                             ? ""
                             : fmt::format(", rows at multiples of {} bytes", op.alignment));
    case OpKind::kAttention:
      return fmt::format(
          "attention {} {} heads {}x{}x{}{} {}{}{}",
          op.direction == Direction::kForward ? "forward" : "backward", op.batch, op.m, op.n, op.k,
          op.causal ? " causal" : "", Name(op.dtype),
          op.attention_kernel == AttentionKernel::kUsual ? "" : " ",
          op.attention_kernel == AttentionKernel::kUsual ? "" : Name(op.attention_kernel));
    case OpKind::kSparse:
      return fmt::format(
          "sparse{} {}{}x{}x{} {}, {} entries{}",
          op.direction == Direction::kForward ? "" : " gradient",
          op.batch == 1 ? "" : fmt::format("{} of ", op.batch), op.m, op.n, op.k, Name(op.dtype),
          op.nonzeros,
          op.product == SparseProduct::kFaster ? "" : fmt::format(", {}", Name(op.product)));
    case OpKind::kNorm:
    case OpKind::kSoftmax:
      return fmt::format("{} {} rows of {} {}", Name(op.kind), op.m, op.n, Name(op.dtype));
    case OpKind::kElementwise:
    case OpKind::kOptimizer:
      return fmt::format("{} {} bytes", Name(op.kind), op.bytes.count());
    case OpKind::kProfiled:
      return fmt::format("profiled {} x {} us", op.m, op.profiled.ns() * 1e-3);
    default:
      return fmt::format("{} {} bytes, {} ranks on {} nodes", NameOfCollective(op),
                         op.bytes.count(), op.fabric.ranks, op.fabric.nodes);
  }
}

namespace {

void AddLink(const Link& link, TableHash& hash) {
  hash.Add(static_cast<int64_t>(link.kind) << 8 | static_cast<int64_t>(link.network));
  hash.Add(link.latency.ns());
  hash.Add(static_cast<int64_t>(link.bandwidth.bytes_per_s()));
}

void AddSync(const GradientSync& sync, TableHash& hash) {
  hash.Add(static_cast<int64_t>(sync.method)).Add(sync.servers).Add(sync.peers);
  hash.Add(sync.serving).Add(sync.timeout.ns());
  AddLink(sync.server, hash);
  AddLink(sync.worker, hash);
}

}  // namespace

const char* Name(SparseProduct product) {
  constexpr const char* kNames[] = {"faster", "from entries", "expanded"};
  return kNames[static_cast<int>(product)];
}

const char* Name(AttentionKernel kernel) {
  constexpr const char* kNames[] = {"usual",  "flash",  "fused",  "triton",
                                    "flash1", "flash2", "flash3", "cudnn"};
  return kNames[static_cast<int>(kernel)];
}

size_t HashOf(const Op& op) {
  TableHash hash;
  hash.Add(static_cast<int64_t>(op.kind) << 32 | static_cast<int64_t>(op.dtype) << 16 |
           static_cast<int64_t>(op.direction) << 8 | static_cast<int64_t>(op.use) << 5 |
           static_cast<int64_t>(op.attention_kernel) << 2 |
           static_cast<int64_t>(op.converts_keys) << 1 | static_cast<int64_t>(op.causal));
  hash.Add(op.batch).Add(op.m).Add(op.n).Add(op.k).Add(op.bytes.count()).Add(op.kernels);
  if (op.alignment != kAlignedBytes) hash.Add(op.alignment);
  if (op.kind == OpKind::kProfiled) hash.Add(op.profiled.ns());
  if (op.kind == OpKind::kAttention) hash.Add(op.kv_batch).Add(op.sequences);
  if (op.kind == OpKind::kSparse) hash.Add(op.nonzeros).Add(static_cast<int64_t>(op.product));
  if (IsCollective(op.kind)) {
    hash.Add(op.fabric.ranks).Add(op.fabric.nodes);
    AddLink(op.fabric.intra, hash);
    AddLink(op.fabric.inter, hash);
  }
  if (op.sync.method != SyncMethod::kAllReduce) AddSync(op.sync, hash);
  return hash.value();
}

}  // namespace stagecraft
