#include "sim/shard.h"

#include <algorithm>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

namespace stagecraft {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Operators from producers to consumers.
std::vector<const Operator*> InOrder(const LayerKind& layer) {
  std::vector<OperatorGraph::vertex_descriptor> reversed;
  boost::topological_sort(layer.operators, std::back_inserter(reversed));
  std::vector<const Operator*> operators;
  for (auto v = reversed.rbegin(); v != reversed.rend(); ++v) {
    operators.push_back(&layer.operators[*v]);
  }
  return operators;
}

// Emits the ops of one layer, operator by operator.
class Emitter {
 public:
  Emitter(const ShardSpec& spec, Steps& steps) : spec_(spec), steps_(steps) {}

  void Forward(const Operator& o) {
    switch (o.kind) {
      case OperatorKind::kLinear:
        return LinearForward(o);
      case OperatorKind::kAttention:
        return AttentionForward(o);
      case OperatorKind::kEmbedding:
        Elementwise(o, o.forward_elements);
        if (o.split == Split::kRow) ReduceOutput(o.out_features);
        return;
      case OperatorKind::kLoss:
        Elementwise(o, o.forward_elements);
        return LossReductions();
      default:
        return Elementwise(o, o.forward_elements);
    }
  }

  void Backward(const Operator& o) {
    switch (o.kind) {
      case OperatorKind::kLinear:
        return LinearBackward(o);
      case OperatorKind::kAttention:
        return AttentionBackward(o);
      default:
        return Elementwise(o, o.backward_elements);
    }
  }

 private:
  void Add(const Op& op, uint8_t flags = 0) { steps_.push_back({op, flags}); }

  void Product(int64_t m, int64_t n, int64_t k) { Add(Op::Gemm(spec_.precision, m, n, k)); }
  // 8-bit products take 16-bit tensors through a cast: two bytes in, one out,
  // and one for the transposed copy that the weight gradient reads.
  void Cast(int64_t elements) {
    if (spec_.precision == DType::kFp8) Add(Op::Elementwise(Bytes(4 * elements)));
  }

  void Collective(OpKind kind, int64_t features, uint8_t flags) {
    if (spec_.tensor == 1) return;
    Add(Op::Collective(kind, Bytes(spec_.Tokens() * features * spec_.ElementBytes()),
                       spec_.tensor_fabric),
        flags);
  }
  // Partial sums of a row-split output become whole (or split by tokens).
  void ReduceOutput(int64_t features, uint8_t flags = 0) {
    Collective(spec_.sequence_parallel ? OpKind::kReduceScatter : OpKind::kAllReduce, features,
               flags);
  }
  void GatherTokens(int64_t features, uint8_t flags = 0) {
    if (spec_.sequence_parallel) Collective(OpKind::kAllGather, features, flags);
  }

  void Elementwise(const Operator& o, int64_t elements) {
    if (elements == 0) return;
    const int64_t tokens = TokensOf(o);
    const int64_t per_token =
        o.split == Split::kColumn ? DivideUp(elements, spec_.tensor) : elements;
    Add(Op::Elementwise(Bytes(tokens * per_token * spec_.ElementBytes()), o.kernels));
  }

  // Vocabulary-split cross-entropy: maximum, sum of exponentials and the
  // target's logit, one 32-bit number per token each (Megatron-LM).
  void LossReductions() {
    if (spec_.tensor == 1) return;
    for (int i = 0; i < 3; ++i) {
      Add(Op::Collective(OpKind::kAllReduce, Bytes(4 * spec_.Tokens()), spec_.tensor_fabric));
    }
  }

  int64_t LocalIn(const Operator& o) const {
    return o.split == Split::kRow ? DivideUp(o.in_features, spec_.tensor) : o.in_features;
  }
  int64_t LocalOut(const Operator& o) const {
    return o.split == Split::kColumn ? DivideUp(o.out_features, spec_.tensor) : o.out_features;
  }
  // Operators that are not divided see only a rank's share of the tokens.
  int64_t TokensOf(const Operator& o) const {
    return o.split == Split::kTokens ? spec_.SplitTokens() : spec_.Tokens();
  }

  void LinearForward(const Operator& o) {
    const int64_t tokens = TokensOf(o);
    if (o.split == Split::kColumn) GatherTokens(o.in_features);
    Cast(tokens * LocalIn(o));
    Product(tokens, LocalOut(o), LocalIn(o));
    if (o.split == Split::kRow) ReduceOutput(o.out_features);
  }

  // Input gradient, then weight gradient. The gathering of the input that the
  // weight gradient needs runs beside the input gradient, the reduction of the
  // input gradient beside the weight gradient (Korthikanti et al., 2022,
  // section 4.2.2, and Megatron-LM's asynchronous reduction).
  void LinearBackward(const Operator& o) {
    const int64_t tokens = TokensOf(o);
    const bool is_column = o.split == Split::kColumn;
    if (o.split == Split::kRow) GatherTokens(o.out_features);
    Cast(tokens * LocalOut(o));
    if (is_column) GatherTokens(o.in_features, kOverlapsNext);
    Product(tokens, LocalIn(o), LocalOut(o));
    if (is_column) ReduceOutput(o.in_features, kOverlapsNext);
    Product(LocalOut(o), LocalIn(o), tokens);
  }

  DType AttentionType() const {
    return spec_.precision == DType::kFp8 ? DType::kBf16 : spec_.precision;
  }
  int64_t LocalHeads(const Operator& o) const {
    return spec_.micro_batch * DivideUp(o.heads, spec_.tensor);
  }
  int64_t Queries() const { return spec_.sequence / spec_.context; }

  // Context parallelism by gathering every key and value (as Llama 3 does);
  // backward scatters their gradients again.
  void ContextExchange(const Operator& o, OpKind kind) {
    if (spec_.context == 1) return;
    const int64_t kv = 2 * DivideUp(o.kv_heads, spec_.tensor) * o.head_size;
    Add(Op::Collective(kind, Bytes(spec_.micro_batch * spec_.sequence * kv * spec_.ElementBytes()),
                       spec_.context_fabric),
        kContextGroup);
  }

  void AttentionForward(const Operator& o) {
    ContextExchange(o, OpKind::kAllGather);
    const int64_t heads = LocalHeads(o);
    if (spec_.attention == AttentionBackend::kFlash) {
      return Add(Op::Attention(AttentionType(), Direction::kForward, heads, Queries(),
                               spec_.sequence, o.head_size, o.causal));
    }
    const int64_t scores = heads * Queries() * spec_.sequence;
    Add(Op::Gemm(AttentionType(), Queries(), spec_.sequence, o.head_size, heads));
    // Scale, mask and softmax in one kernel, dropout with its mask in another.
    Add(Op::Elementwise(Bytes(scores * (4 * spec_.ElementBytes() + 1)), 2));
    Add(Op::Gemm(AttentionType(), Queries(), o.head_size, spec_.sequence, heads));
  }

  void AttentionBackward(const Operator& o) {
    const bool is_fused = spec_.attention == AttentionBackend::kFlash;
    if (!is_fused && spec_.recompute == Recompute::kSelective) AttentionForward(o);
    ContextExchange(o, OpKind::kAllGather);
    const int64_t heads = LocalHeads(o);
    const int64_t queries = Queries();
    const int64_t keys = spec_.sequence;
    if (is_fused) {
      Add(Op::Attention(AttentionType(), Direction::kBackward, heads, queries, keys, o.head_size,
                        o.causal));
    } else {
      const int64_t scores = heads * queries * keys;
      Add(Op::Gemm(AttentionType(), queries, keys, o.head_size, heads));  // of probabilities
      Add(Op::Gemm(AttentionType(), keys, o.head_size, queries, heads));  // of values
      Add(Op::Elementwise(Bytes(scores * (5 * spec_.ElementBytes() + 1)), 2));
      Add(Op::Gemm(AttentionType(), queries, o.head_size, keys, heads));  // of queries
      Add(Op::Gemm(AttentionType(), keys, o.head_size, queries, heads));  // of keys
    }
    ContextExchange(o, OpKind::kReduceScatter);
  }

  const ShardSpec& spec_;
  Steps& steps_;
};

Bytes TensorBytes(const SavedTensor& tensor, const ShardSpec& spec) {
  const int64_t element =
      tensor.bytes_per_element == 0 ? spec.ElementBytes() : tensor.bytes_per_element;
  const bool is_split = tensor.split == Split::kColumn;
  const int64_t tokens = is_split ? spec.Tokens() : spec.SplitTokens();
  const int64_t features = is_split ? DivideUp(tensor.features, spec.tensor) : tensor.features;
  return Bytes(tokens * features * element * (tensor.per_key ? spec.sequence : 1));
}

bool RecomputesWhole(const LayerKind& layer, const ShardSpec& spec) {
  return spec.recompute == Recompute::kFull && layer.role == LayerRole::kBlock;
}

}  // namespace

LayerSteps ShardLayer(const LayerKind& layer, const ShardSpec& spec) {
  const std::vector<const Operator*> operators = InOrder(layer);
  LayerSteps steps;
  Emitter forward(spec, steps.forward);
  for (const Operator* o : operators) forward.Forward(*o);
  if (RecomputesWhole(layer, spec)) steps.backward = steps.forward;
  Emitter backward(spec, steps.backward);
  for (auto o = operators.rbegin(); o != operators.rend(); ++o) backward.Backward(**o);
  return steps;
}

LayerMemory SavedActivations(const LayerKind& layer, const ShardSpec& spec) {
  const bool drops_scores = spec.recompute != Recompute::kNone;
  Bytes all;
  Bytes scores;
  const auto [begin, end] = boost::vertices(layer.operators);
  for (auto v = begin; v != end; ++v) {
    for (const SavedTensor& tensor : layer.operators[*v].saved) {
      (tensor.per_key ? scores : all) += TensorBytes(tensor, spec);
    }
  }
  if (RecomputesWhole(layer, spec)) {
    const Bytes input(spec.SplitTokens() * layer.boundary_features * spec.ElementBytes());
    return {input, all + scores};
  }
  return drops_scores ? LayerMemory{all, scores} : LayerMemory{all + scores, Bytes()};
}

int64_t ShardParameters(const LayerKind& layer, int tensor) {
  int64_t parameters = 0;
  const auto [begin, end] = boost::vertices(layer.operators);
  for (auto v = begin; v != end; ++v) {
    const Operator& o = layer.operators[*v];
    parameters += o.split == Split::kTokens ? o.parameters : DivideUp(o.parameters, tensor);
  }
  return parameters;
}

FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec) {
  const bool recomputes_scores =
      spec.recompute == Recompute::kSelective && spec.attention == AttentionBackend::kUnfused;
  const bool recomputes_all = RecomputesWhole(layer, spec);
  Steps steps;
  Emitter emitter(spec, steps);
  for (const Operator* o : InOrder(layer)) {
    const bool is_repeated =
        recomputes_all || (recomputes_scores && o->kind == OperatorKind::kAttention);
    if (is_repeated) emitter.Forward(*o);
  }
  FlopCount flops;
  for (const Step& step : steps) flops += step.op.Flops();
  return flops;
}

}  // namespace stagecraft
