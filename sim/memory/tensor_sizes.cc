#include "sim/memory/tensor_sizes.h"

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

int64_t Copies(const Operator& op) { return op.experts > 0 ? op.experts_per_token : 1; }

// Returns the bytes of all rows, with no division by sequence parallelism, at this number of
// features.
Bytes RowBytes(int64_t features, const Operator& op, const ShardSpec& spec) {
  return Bytes(spec.RowsOf(op) * Copies(op) * features * spec.ElementBytes());
}

int64_t LocalOut(const Operator& op, const ShardSpec& spec) {
  return op.split == Split::kColumn ? DivideUp(op.out_features, spec.tensor) : op.out_features;
}

bool IsSplitProduct(const Operator& op, Split split, const ShardSpec& spec) {
  return spec.sequence_parallel && op.kind == OperatorKind::kLinear && op.split == split;
}

}  // namespace

Bytes ScoreBytes(const Operator& op, const ShardSpec& spec) {
  return Bytes(spec.RowsOf(op) * DivideUp(op.heads, spec.tensor) * spec.ReadKeysOf(op) *
               spec.ElementBytes());
}

bool KeepsScores(const Operator& op, const ShardSpec& spec) {
  return op.kind == OperatorKind::kAttention && spec.attention == AttentionBackend::kUnfused;
}

Bytes SavedBytes(const SavedTensor& tensor, const Operator& op, const ShardSpec& spec) {
  const int64_t element =
      tensor.bytes_per_element == 0 ? spec.ElementBytes() : tensor.bytes_per_element;
  const bool is_split = tensor.split == Split::kColumn;
  const int64_t rows = is_split ? spec.RowsOf(op) : spec.SplitRowsOf(op);
  const int64_t features = is_split ? DivideUp(tensor.features, spec.tensor) : tensor.features;
  return Bytes(rows * features * element * (tensor.per_key ? spec.ReadKeysOf(op) : 1));
}

bool IsInput(const SavedTensor& tensor, const Operator& op) {
  if (op.kind != OperatorKind::kAttention) return tensor.name == op.name + "_input";
  return tensor.name == "query" || tensor.name == "key" || tensor.name == "value";
}

bool IsProduct(const Operator& op) {
  return op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kConvolution ||
         op.kind == OperatorKind::kRecurrent;
}

Bytes InputBytes(const Operator& op, const ShardSpec& spec) {
  if (op.kind == OperatorKind::kConvolution) {
    return Bytes(spec.micro_batch * ShareUp(op.row_share, op.input_elements) * spec.ElementBytes());
  }
  if (op.split == Split::kRow) {
    return RowBytes(DivideUp(op.in_features, spec.tensor), op, spec);
  }
  return Bytes(spec.SplitRowsOf(op) * Copies(op) * op.in_features * spec.ElementBytes());
}

Bytes OutputBytes(const Operator& op, const ShardSpec& spec) {
  if (op.split == Split::kColumn) return RowBytes(LocalOut(op, spec), op, spec);
  return Bytes(spec.SplitRowsOf(op) * Copies(op) * op.out_features * spec.ElementBytes());
}

Bytes ProductGradientBytes(const Operator& op, const ShardSpec& spec) {
  return op.split == Split::kRow ? RowBytes(op.out_features, op, spec) : OutputBytes(op, spec);
}

Bytes ForwardScratch(const Operator& op, const ShardSpec& spec) {
  if (KeepsScores(op, spec)) return ScoreBytes(op, spec);
  if (IsSplitProduct(op, Split::kColumn, spec)) return RowBytes(op.in_features, op, spec);
  if (IsSplitProduct(op, Split::kRow, spec)) return RowBytes(op.out_features, op, spec);
  return Bytes();
}

Bytes BackwardScratch(const Operator& op, const ShardSpec& spec) {
  if (KeepsScores(op, spec)) return Bytes();
  if (op.kind == OperatorKind::kAttention) {
    // FlashAttention-2 sums gradients of queries in 32 bits.
    constexpr int64_t kSumBytes = 4;
    const int64_t queries = DivideUp(op.heads, spec.tensor) * op.head_size;
    return Bytes(spec.RowsOf(op) * queries * kSumBytes);
  }
  // These are the input, gathered again, and its gradient before it is reduced.
  if (IsSplitProduct(op, Split::kColumn, spec)) return 2 * RowBytes(op.in_features, op, spec);
  if (IsSplitProduct(op, Split::kRow, spec)) return RowBytes(op.out_features, op, spec);
  return Bytes();
}

Bytes WeightBytes(const Operator& op, const ShardSpec& spec) {
  return Bytes(OperatorParameters(op, spec.tensor, spec.expert) * spec.ElementBytes());
}

std::vector<int64_t> MergedMatrices(const LayerKind& layer, size_t v) {
  const Operator& gemm = layer.operators[v];
  for (const Operator& other : layer.operators) {
    const int64_t query = int64_t{other.heads} * other.head_size;
    const int64_t key = int64_t{other.kv_heads} * other.head_size;
    const bool is_attention = other.kind == OperatorKind::kAttention;
    if (is_attention && gemm.name == "qkv" && gemm.out_features == query + 2 * key) {
      return {query, key, key};
    }
  }
  for (const size_t reader : layer.operators.consumers(v)) {
    const Operator& gate = layer.operators[reader];
    const bool is_gate =
        gate.kind == OperatorKind::kElementwise && gate.in_features == 2 * gate.out_features;
    if (is_gate && gemm.out_features == gate.in_features) {
      return {gate.out_features, gate.out_features};
    }
  }
  return {gemm.out_features};
}

}  // namespace stagecraft
