#include "sim/shard.h"

#include <algorithm>

#include "costmodel/divide.h"
#include "sim/operator_steps.h"

namespace stagecraft {
namespace {

// Calls f(operator) in execution order.
template <typename F>
void ForEachOperator(const LayerKind& layer, F f) {
  const size_t count = boost::num_vertices(layer.operators);
  for (size_t v = 0; v < count; ++v) f(layer.operators[v]);
}

Bytes TensorBytes(const SavedTensor& tensor, const Operator& op, const ShardSpec& spec) {
  const int64_t element =
      tensor.bytes_per_element == 0 ? spec.ElementBytes() : tensor.bytes_per_element;
  const bool is_split = tensor.split == Split::kColumn;
  const int64_t rows = is_split ? spec.Rows(op.positions) : spec.SplitRows(op.positions);
  const int64_t features = is_split ? DivideUp(tensor.features, spec.tensor) : tensor.features;
  const int64_t queries = op.positions > 0 ? op.positions : spec.sequence;
  const int64_t keys = op.keys > 0 ? op.keys : queries;
  return Bytes(rows * features * element * (tensor.per_key ? keys : 1));
}

bool MultipliesWeights(const Operator& op) {
  return op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kConvolution ||
         op.kind == OperatorKind::kRecurrent;
}

Bytes OutputBytes(const Operator& op, const ShardSpec& spec) {
  const int64_t features =
      op.split == Split::kColumn ? DivideUp(op.out_features, spec.tensor) : op.out_features;
  return Bytes(spec.Rows(op.positions) * features * spec.ElementBytes());
}

bool RecomputesWhole(const LayerKind& layer, const ShardSpec& spec) {
  return spec.recompute == Recompute::kFull && layer.role == LayerRole::kBlock;
}

}  // namespace

LayerSteps ShardLayer(const LayerKind& layer, const ShardSpec& spec) {
  LayerSteps steps;
  ForEachOperator(layer, [&](const Operator& op) { AppendForward(op, spec, steps.forward); });
  if (RecomputesWhole(layer, spec)) steps.backward = steps.forward;
  for (size_t v = boost::num_vertices(layer.operators); v-- > 0;) {
    AppendBackward(layer.operators[v], spec, steps.backward);
  }
  return steps;
}

LayerMemory SavedActivations(const LayerKind& layer, const ShardSpec& spec) {
  const bool drops_scores = spec.recompute != Recompute::kNone;
  Bytes all;
  Bytes scores;
  Bytes until_weights;
  ForEachOperator(layer, [&](const Operator& op) {
    for (const SavedTensor& tensor : op.saved) {
      const Bytes bytes = TensorBytes(tensor, op, spec);
      (tensor.per_key ? scores : all) += bytes;
      if (MultipliesWeights(op)) until_weights += bytes;
    }
    if (MultipliesWeights(op)) until_weights += OutputBytes(op, spec);
  });
  if (RecomputesWhole(layer, spec)) {
    return {BoundaryBytes(layer, spec), all + scores, until_weights};
  }
  if (drops_scores) return {all, scores, until_weights};
  return {all + scores, Bytes(), until_weights};
}

Bytes BoundaryBytes(const LayerKind& layer, const ShardSpec& spec) {
  return Bytes(spec.SplitRows(layer.boundary_positions) * layer.boundary_features *
               spec.ElementBytes());
}

ParameterCount ShardParameters(const LayerKind& layer, int tensor, int expert) {
  ParameterCount parameters;
  ForEachOperator(layer, [&](const Operator& op) {
    const int64_t own =
        op.split == Split::kTokens ? op.parameters : DivideUp(op.parameters, tensor);
    if (op.experts > 0) {
      parameters.expert += DivideUp(own, expert);
    } else {
      parameters.dense += own;
    }
  });
  return parameters;
}

FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec) {
  const bool recomputes_scores =
      spec.recompute == Recompute::kSelective && spec.attention == AttentionBackend::kUnfused;
  const bool recomputes_all = RecomputesWhole(layer, spec);
  Steps steps;
  ForEachOperator(layer, [&](const Operator& op) {
    const bool is_repeated =
        recomputes_all || (recomputes_scores && op.kind == OperatorKind::kAttention);
    if (is_repeated) AppendForward(op, spec, steps);
  });
  FlopCount flops;
  for (const Step& step : steps) flops += step.op.Flops();
  return flops;
}

}  // namespace stagecraft
