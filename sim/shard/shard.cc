#include "sim/shard/shard.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "sim/shard/operator_steps.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/layer_state.h"

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

// How many matrices an operator has on one rank.
int64_t MatricesOf(const Operator& op, int expert) {
  return op.experts > 0 ? DivideUp(op.experts, expert) : 1;
}

// The parameters of operators for which `counts` holds.
template <typename Counts>
ParameterCount CountParameters(const LayerKind& layer, int tensor, int expert, Counts counts) {
  ParameterCount parameters;
  ForEachOperator(layer, [&](const Operator& op) {
    if (!counts(op)) return;
    int64_t& sum = op.experts > 0 ? parameters.expert : parameters.dense;
    sum += OperatorParameters(op, tensor, expert);
  });
  return parameters;
}

// The sizes of the tensors of operators for which `counts` holds.
template <typename Counts>
std::vector<int64_t> TensorSizes(const LayerKind& layer, int tensor, Counts counts) {
  std::vector<int64_t> sizes;
  const auto add = [&](const Operator& op, int64_t elements) {
    if (elements <= 0) return;
    sizes.push_back(op.split == Split::kTokens ? elements : DivideUp(elements, tensor));
  };
  ForEachOperator(layer, [&](const Operator& op) {
    if (op.experts > 0 || !counts(op)) return;
    const bool is_norm = op.kind == OperatorKind::kNorm;
    const int64_t entries = op.nonzeros.value_or(op.in_features * op.out_features);
    const int64_t first = std::min(op.parameters, is_norm ? op.in_features : entries);
    // Tables and profiles are one tensor.
    const bool has_rest = is_norm || op.kind == OperatorKind::kLinear;
    add(op, has_rest ? first : op.parameters);
    if (has_rest) add(op, op.parameters - first);
  });
  return sizes;
}

// Appends a kernel that moves so many bytes for each of the parameters.
void AppendPass(int64_t parameters, int64_t bytes, uint8_t flags, Steps& steps) {
  if (parameters > 0) steps.push_back({Op::Elementwise(Bytes(bytes * parameters)), flags});
}

// The parameters of matrices, or of those that are trained, which autocast takes in 16 bits; the
// rows of a table are looked up in 32 bits.
int64_t CastParameters(const LayerKind& layer, const ShardSpec& spec, bool trained_only) {
  const auto is_cast = [&](const Operator& op) {
    const bool is_matrix = op.kind == OperatorKind::kLinear ||
                           op.kind == OperatorKind::kConvolution ||
                           op.kind == OperatorKind::kRecurrent;
    return is_matrix && (!trained_only || layer.Trains(op));
  };
  return CountParameters(layer, spec.tensor, spec.expert, is_cast).Total();
}

// Appends what a forward does to parameters before it computes.
void AppendParameterCopies(const LayerKind& layer, const ShardSpec& spec, Steps& steps) {
  if (spec.shard_copies == ShardCopies::kParameters) {
    const int64_t own = ShardParameters(layer, spec.tensor, spec.expert).Total();
    AppendPass(own, 2 * spec.ElementBytes(), 0, steps);
  }
}

// Appends what a backward does to gradients once it has computed them.
void AppendGradientCopies(const LayerKind& layer, const ShardSpec& spec, Steps& steps) {
  if (spec.shard_copies == ShardCopies::kGradients) {
    const int64_t trained = ShardTrained(layer, spec.tensor, spec.expert).Total();
    AppendPass(trained, 2 * spec.ElementBytes(), kWeightGradient, steps);
  }
  if (spec.casts_weights) {
    const int64_t trained = CastParameters(layer, spec, /*trained_only=*/true);
    AppendPass(trained, spec.ElementBytes() + 4, kWeightGradient, steps);
  }
}

void AppendRepeatedParts(const LayerKind& layer, const ShardSpec& spec, Steps& steps) {
  ForEachOperator(layer, [&](const Operator& op) {
    if (RepeatsPart(layer, op, spec)) AppendForward(op, spec, steps);
  });
}

}  // namespace

double ShardSpec::ExpertImbalanceOf(const Operator& op) const {
  if (op.expert_rows.empty()) return expert_imbalance;
  const auto local = static_cast<size_t>(DivideUp(op.experts, expert));
  double fullest = 0;
  for (size_t first = 0; first < op.expert_rows.size(); first += local) {
    const auto begin = op.expert_rows.begin() + static_cast<std::ptrdiff_t>(first);
    const size_t count = std::min(local, op.expert_rows.size() - first);
    fullest =
        std::max(fullest, std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0));
  }
  return fullest * expert;
}

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
  const size_t exit = FirstExitOperator(layer);
  // The head at an exit has the precision of every head.
  std::optional<ShardSpec> of_exit;
  if (exit < layer.operators.size()) {
    of_exit = given;
    of_exit->precision = WorkingType(given.precision);
  }
  const auto spec_of = [&](size_t v) -> const ShardSpec& { return v < exit ? spec : *of_exit; };
  LayerSteps steps;
  if (!layer.is_cached) {
    AppendParameterCopies(layer, spec, steps.forward);
    if (spec.casts_weights) {
      const int64_t all = CastParameters(layer, spec, /*trained_only=*/false);
      AppendPass(all, 4 + spec.ElementBytes(), 0, steps.forward);
    }
    for (size_t v = 0; v < layer.operators.size(); ++v) {
      AppendForward(layer.operators[v], spec_of(v), steps.forward);
    }
  }
  // A forward that runs again makes its copies anew.
  const bool gathers = spec.gathers_for_backward && !RecomputesWhole(layer, spec);
  if (gathers && layer.has_backward()) AppendParameterCopies(layer, spec, steps.backward);
  if (RepeatsOperators(layer, spec)) AppendRepeated(layer, spec, steps.backward);
  AppendRepeatedParts(layer, spec, steps.backward);
  const std::vector<OperatorGradients> gradients = GradientsOf(layer);
  for (size_t v = layer.operators.size(); v-- > 0;) {
    AppendBackward(layer.operators[v], gradients[v], spec_of(v), steps.backward);
  }
  if (layer.has_backward()) AppendGradientCopies(layer, spec, steps.backward);
  return steps;
}

Bytes BoundaryBytes(const LayerKind& layer, const ShardSpec& spec) {
  return Bytes(spec.BoundaryRowsOf(layer) * layer.boundary_features * spec.ElementBytes());
}

int64_t OperatorEntries(const Operator& op, int tensor) {
  CHECK(op.nonzeros.has_value());
  const int64_t own = op.split == Split::kTokens ? *op.nonzeros : DivideUp(*op.nonzeros, tensor);
  return std::min(*op.nonzeros, RoundUp(own, kEntriesTogether));
}

int64_t OperatorParameters(const Operator& op, int tensor, int expert) {
  const auto own = [&](int64_t parameters) {
    const int64_t split = op.split == Split::kTokens ? parameters : DivideUp(parameters, tensor);
    return op.experts > 0 ? DivideUp(split, expert) : split;
  };
  if (!op.nonzeros) return own(op.parameters);
  const int64_t biases = op.parameters - std::max(1, op.experts) * *op.nonzeros;
  return own(biases) + MatricesOf(op, expert) * OperatorEntries(op, tensor);
}

ParameterCount ShardParameters(const LayerKind& layer, int tensor, int expert) {
  return CountParameters(layer, tensor, expert, [](const Operator&) { return true; });
}

ParameterCount ShardTrained(const LayerKind& layer, int tensor, int expert) {
  return CountParameters(layer, tensor, expert,
                         [&](const Operator& op) { return layer.Trains(op); });
}

Bytes ShardIndices(const LayerKind& layer, int tensor, int expert) {
  constexpr int64_t kIndexBytes = 4;
  int64_t indices = 0;
  ForEachOperator(layer, [&](const Operator& op) {
    if (!op.nonzeros) return;
    const int64_t rows =
        op.split == Split::kColumn ? DivideUp(op.out_features, tensor) : op.out_features;
    indices += MatricesOf(op, expert) * (OperatorEntries(op, tensor) + rows + 1);
  });
  return Bytes(kIndexBytes * indices);
}

std::vector<int64_t> ShardTensors(const LayerKind& layer, int tensor) {
  return TensorSizes(layer, tensor, [](const Operator&) { return true; });
}

std::vector<int64_t> ShardTrainedTensors(const LayerKind& layer, int tensor) {
  return TensorSizes(layer, tensor, [&](const Operator& op) { return layer.Trains(op); });
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
