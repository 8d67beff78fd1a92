#include "runtime/cuda/attention_graph.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace stagecraft {
namespace {

using Tensor = CudnnGraph::Tensor;
using Home = CudnnGraph::Home;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

class AttentionBuilder {
 public:
  AttentionBuilder(const Op& op, CudnnGraph& graph) : graph_(graph), op_(op) {
    heads_ = op.batch / op.sequences;
    kv_heads_ = (op.kv_batch > 0 ? op.kv_batch : op.batch) / op.sequences;
    type_ = op.dtype == DType::kFp16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
  }

  AttentionArguments Build() {
    scale_ = Number(1 / std::sqrt(static_cast<float>(op_.k)));
    if (op_.causal) least_ = Number(kMinusInfinity);
    queries_ = Rows(heads_, op_.m);
    output_ = Rows(heads_, op_.m);
    stats_ = graph_.Add(PerRow(), PackedStrides(PerRow()), CUDNN_DATA_FLOAT, Home::kMemory);
    const int64_t rows = op_.sequences * heads_ * op_.m;
    arguments_.blocks.push_back(
        {graph_.uid(stats_), 0, rows * static_cast<int64_t>(sizeof(float)), true});
    op_.direction == Direction::kForward ? Forward() : Backward();
    return std::move(arguments_);
  }

 private:
  Sizes Scores() const { return {op_.sequences, heads_, op_.m, op_.n}; }
  Sizes PerRow() const { return {op_.sequences, heads_, op_.m, 1}; }
  Sizes RowSizes(int64_t heads, int64_t rows) const { return {op_.sequences, heads, rows, op_.k}; }
  Sizes RowStrides(int64_t heads, int64_t rows) const {
    return {rows * heads * op_.k, op_.k, heads * op_.k, 1};
  }
  Tensor Rows(int64_t heads, int64_t rows, int64_t same_as = 0) {
    const Tensor tensor =
        graph_.Add(RowSizes(heads, rows), RowStrides(heads, rows), type_, Home::kMemory);
    Declare(tensor, heads, rows, same_as);
    return tensor;
  }
  void Declare(Tensor tensor, int64_t heads, int64_t rows, int64_t same_as = 0) {
    const Bytes bytes = TensorBytes(op_.dtype, op_.sequences * heads * rows * op_.k);
    arguments_.blocks.push_back({graph_.uid(tensor), same_as, bytes.count(), false});
  }
  Tensor Number(float value) {
    const Tensor tensor = graph_.Add({1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, Home::kValue);
    arguments_.numbers.push_back({graph_.uid(tensor), value});
    return tensor;
  }
  // Adds keys or values, with rows and columns exchanged.
  Tensor Transposed() {
    const Tensor tensor =
        graph_.Add({op_.sequences, kv_heads_, op_.k, op_.n},
                   {op_.n * kv_heads_ * op_.k, op_.k, 1, kv_heads_ * op_.k}, type_, Home::kMemory);
    Declare(tensor, kv_heads_, op_.n);
    return tensor;
  }

  Tensor Point(cudnnPointwiseMode_t mode, Tensor x, std::optional<Tensor> b = std::nullopt) {
    const Tensor result = graph_.Between(graph_.sizes(x));
    graph_.Pointwise(mode, x, b, std::nullopt, result);
    return result;
  }

  // Replaces the scores of keys after the query by minus infinity.
  Tensor Masked(Tensor scores) {
    const auto integers = [&] {
      return graph_.Add(Scores(), PackedStrides(Scores()), CUDNN_DATA_INT32, Home::kVirtual);
    };
    const Tensor row = integers(), column = integers();
    graph_.Pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, std::nullopt, std::nullopt, row, 2,
                     CUDNN_DATA_INT32);
    graph_.Pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, std::nullopt, std::nullopt, column, 3,
                     CUDNN_DATA_INT32);
    const Tensor is_seen =
        graph_.Add(Scores(), PackedStrides(Scores()), CUDNN_DATA_BOOLEAN, Home::kVirtual);
    graph_.Pointwise(CUDNN_POINTWISE_CMP_GE, row, column, std::nullopt, is_seen, -1,
                     CUDNN_DATA_INT32);
    const Tensor masked = graph_.Between(Scores());
    graph_.Pointwise(CUDNN_POINTWISE_BINARY_SELECT, scores, least_, is_seen, masked);
    return masked;
  }

  Tensor ScaledScores() {
    const Tensor products = graph_.Between(Scores());
    const Tensor keys = Transposed();
    keys_uid_ = graph_.uid(keys);
    graph_.Product(queries_, keys, products);
    const Tensor scaled = Point(CUDNN_POINTWISE_MUL, products, scale_);
    return op_.causal ? Masked(scaled) : scaled;
  }

  void Forward() {
    const Tensor scores = ScaledScores();
    const Tensor most = graph_.Between(PerRow()), sum = graph_.Between(PerRow());
    graph_.Reduce(CUDNN_REDUCE_TENSOR_MAX, scores, most);
    const Tensor powers = Point(CUDNN_POINTWISE_EXP, Point(CUDNN_POINTWISE_SUB, scores, most));
    graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
    const Tensor logarithm = Point(CUDNN_POINTWISE_LOG, sum);
    graph_.Pointwise(CUDNN_POINTWISE_ADD, most, logarithm, std::nullopt, stats_);
    const Tensor shares = graph_.Add(Scores(), PackedStrides(Scores()), type_, Home::kVirtual);
    graph_.Pointwise(CUDNN_POINTWISE_DIV, powers, sum, std::nullopt, shares);
    graph_.Product(shares, Rows(kv_heads_, op_.n), output_);
  }

  Tensor TransposedScores(Tensor scores);
  void SumOverGroups(Tensor left, Tensor right);
  void Backward();

  CudnnGraph& graph_;
  const Op& op_;
  int64_t heads_ = 0, kv_heads_ = 0;
  cudnnDataType_t type_;
  Tensor queries_ = 0, output_ = 0, stats_ = 0, scale_ = 0, least_ = 0;
  int64_t keys_uid_ = 0;
  AttentionArguments arguments_;
};

// Returns scores with rows and columns exchanged, in the format of the operands.
Tensor AttentionBuilder::TransposedScores(Tensor scores) {
  const Tensor transposed =
      graph_.Add({op_.sequences, heads_, op_.n, op_.m},
                 {heads_ * op_.m * op_.n, op_.m * op_.n, 1, op_.n}, type_, Home::kVirtual);
  graph_.Reshape(scores, transposed);
  return transposed;
}

// Adds left x right as the gradient of keys or values: the products of the query heads of a group
// are added up for the head that they share.
void AttentionBuilder::SumOverGroups(Tensor left, Tensor right) {
  const Tensor sum = Rows(kv_heads_, op_.n);
  if (heads_ == kv_heads_) return graph_.Product(left, right, sum);
  const Tensor whole =
      graph_.Add(RowSizes(heads_, op_.n), RowStrides(heads_, op_.n), type_, Home::kVirtual);
  graph_.Product(left, right, whole);
  graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, whole, sum);
}

void AttentionBuilder::Backward() {
  const Tensor output_gradient = Rows(heads_, op_.m);
  const Tensor products = Point(CUDNN_POINTWISE_MUL, output_gradient, output_);
  const Tensor sum = graph_.Between(PerRow());
  graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, products, sum);
  // Dropout would scale the sums here; the engines recognise the graph only with such a factor.
  const Tensor row_sum = Point(CUDNN_POINTWISE_MUL, sum, Number(1));

  const Tensor scores = ScaledScores();
  const Tensor shares = Point(CUDNN_POINTWISE_EXP, Point(CUDNN_POINTWISE_SUB, scores, stats_));
  SumOverGroups(TransposedScores(shares), output_gradient);  // the gradient of values

  const Tensor of_shares = graph_.Between(Scores());
  graph_.Product(output_gradient, Transposed(), of_shares);
  const Tensor below = Point(CUDNN_POINTWISE_SUB, of_shares, row_sum);
  const Tensor of_scores =
      Point(CUDNN_POINTWISE_MUL, Point(CUDNN_POINTWISE_MUL, below, shares), scale_);
  SumOverGroups(TransposedScores(of_scores), queries_);  // the gradient of keys
  const Tensor keys = Rows(kv_heads_, op_.n, keys_uid_);
  graph_.Product(of_scores, keys, Rows(heads_, op_.m));
}

}  // namespace

AttentionArguments BuildAttention(const Op& op, CudnnGraph& graph) {
  return AttentionBuilder(op, graph).Build();
}

}  // namespace stagecraft
