#include "sim/shard/shard.h"

#include <algorithm>
#include <iterator>

#include "costmodel/divide.h"
#include "sim/shard/operator_steps.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

// Calls f(operator) in execution order.
template <typename F>
void ForEachOperator(const LayerKind& layer, F f) {
  for (const Operator& op : layer.operators) f(op);
}

// Appends what Recompute::kOperators repeats of a forward: half of every GEMM, since every second
// matrix of a block has its product kept, and all else but fused attention and reductions.
void AppendRepeated(const LayerKind& layer, const ShardSpec& spec, Steps& steps) {
  ForEachOperator(layer, [&](const Operator& op) {
    const bool is_fused = spec.attention == AttentionBackend::kFlash;
    if (op.kind == OperatorKind::kAttention && is_fused) return;
    Operator repeated = op;
    if (op.kind == OperatorKind::kLinear) repeated.out_features = DivideUp(op.out_features, 2);
    Steps again;
    AppendForward(repeated, spec, again);
    std::copy_if(again.begin(), again.end(), std::back_inserter(steps), [](const Step& step) {
      return step.op.kind != OpKind::kReduceScatter && step.op.kind != OpKind::kAllReduce;
    });
  });
}

void AppendRepeatedParts(const LayerKind& layer, const ShardSpec& spec, Steps& steps) {
  ForEachOperator(layer, [&](const Operator& op) {
    if (RepeatsPart(layer, op, spec)) AppendForward(op, spec, steps);
  });
}

}  // namespace

bool RecomputesWhole(const LayerKind& layer, const ShardSpec& spec) {
  return spec.recompute == Recompute::kFull && layer.role == LayerRole::kBlock &&
         layer.has_backward();
}

bool RepeatsOperators(const LayerKind& layer, const ShardSpec& spec) {
  return spec.recompute == Recompute::kOperators && layer.role == LayerRole::kBlock &&
         layer.has_backward();
}

bool RepeatsPart(const LayerKind& layer, const Operator& op, const ShardSpec& spec) {
  const RecomputedParts& parts = spec.recomputed_parts;
  const bool is_part = (parts.norms && op.part == BlockPart::kNorm) ||
                       (parts.latents && op.part == BlockPart::kLatentUp) ||
                       (parts.activations && op.part == BlockPart::kActivation);
  return is_part && layer.role == LayerRole::kBlock && layer.has_backward() &&
         !RecomputesWhole(layer, spec) && !RepeatsOperators(layer, spec);
}

LayerRange RecomputedRange(const Workload& workload, const ShardSpec& spec, int layer) {
  if (RecomputesWhole(workload.layer(layer), spec)) return {layer, 1};
  const auto after =
      std::upper_bound(spec.recomputed.begin(), spec.recomputed.end(), layer,
                       [](int value, const LayerRange& range) { return value < range.first; });
  if (after == spec.recomputed.begin()) return {layer, 0};
  LayerRange range = *std::prev(after);
  const int end = range.first + range.count;
  if (layer >= end || !workload.layer(layer).has_backward()) return {layer, 0};
  while (!workload.layer(range.first).has_backward()) ++range.first;
  return {range.first, end - range.first};
}

ShardSpec LayerSpec(const Workload& workload, const ShardSpec& spec, int layer) {
  ShardSpec own = spec;
  own.recomputed.clear();
  if (RecomputedRange(workload, spec, layer).count > 0) own.recompute = Recompute::kFull;
  return own;
}

LayerSteps ShardLayer(const LayerKind& layer, const ShardSpec& given) {
  ShardSpec spec = given;
  if (layer.role == LayerRole::kHead) spec.precision = WorkingType(spec.precision);
  LayerSteps steps;
  ForEachOperator(layer, [&](const Operator& op) { AppendForward(op, spec, steps.forward); });
  if (RepeatsOperators(layer, spec)) AppendRepeated(layer, spec, steps.backward);
  AppendRepeatedParts(layer, spec, steps.backward);
  const std::vector<OperatorGradients> gradients = GradientsOf(layer);
  for (size_t v = layer.operators.size(); v-- > 0;) {
    AppendBackward(layer.operators[v], gradients[v], spec, steps.backward);
  }
  return steps;
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

std::vector<int64_t> ShardTensors(const LayerKind& layer, int tensor) {
  std::vector<int64_t> sizes;
  const auto add = [&](const Operator& op, int64_t elements) {
    if (elements <= 0) return;
    sizes.push_back(op.split == Split::kTokens ? elements : DivideUp(elements, tensor));
  };
  ForEachOperator(layer, [&](const Operator& op) {
    if (op.experts > 0) return;
    const bool is_norm = op.kind == OperatorKind::kNorm;
    const int64_t first =
        std::min(op.parameters, is_norm ? op.in_features : op.in_features * op.out_features);
    // Tables and profiles are one tensor.
    const bool has_rest = is_norm || op.kind == OperatorKind::kLinear;
    add(op, has_rest ? first : op.parameters);
    if (has_rest) add(op, op.parameters - first);
  });
  return sizes;
}

FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec) {
  const bool recomputes_scores = spec.recompute == Recompute::kSelective &&
                                 spec.attention == AttentionBackend::kUnfused &&
                                 layer.has_backward();
  const bool recomputes_all = RecomputesWhole(layer, spec);
  Steps steps;
  if (RepeatsOperators(layer, spec)) AppendRepeated(layer, spec, steps);
  AppendRepeatedParts(layer, spec, steps);
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
