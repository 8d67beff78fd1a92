// What one rank of a stage computes and keeps for one layer: the workload's
// operators, divided by tensor, sequence and context parallelism, as Ops.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/divide.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// How a stage divides its layers, and what its groups see of the cluster.
struct ShardSpec {
  int tensor = 1;
  int context = 1;
  int expert = 1;
  bool sequence_parallel = false;
  bool overlap_tensor = false;
  int64_t micro_batch = 1;
  int64_t sequence = 0;
  DType precision = DType::kBf16;
  Fp8Recipe fp8_recipe = Fp8Recipe::kDelayed;
  Recompute recompute = Recompute::kNone;  // as in Stage, with the next
  std::vector<LayerRange> recomputed = {};
  AttentionBackend attention = AttentionBackend::kFlash;
  Fabric tensor_fabric;
  ContextExchange context_exchange = ContextExchange::kRing;
  Fabric context_fabric;
  Fabric expert_fabric;
  // Rows of the fullest expert over the mean: 1 where routing is even.
  double expert_imbalance = 1;

  // Rows of one micro-batch on one rank, where an operator is not split by
  // rows: micro_batch x positions (0: the sequence) / context; on the rank with
  // most of them.
  int64_t Rows(int64_t positions = 0) const {
    return DivideUp(micro_batch * (positions > 0 ? positions : sequence), context);
  }
  // Rows of norms and residuals: divided further by sequence parallelism.
  int64_t SplitRows(int64_t positions = 0) const {
    return sequence_parallel ? DivideUp(Rows(positions), tensor) : Rows(positions);
  }
  // Bytes of an activation element; 8-bit products keep 16-bit activations.
  int ElementBytes() const { return precision == DType::kFp8 ? 2 : ElementSize(precision); }
  // Of what 8-bit recipes leave in 16 bits.
  DType NarrowType() const { return precision == DType::kFp8 ? DType::kBf16 : precision; }
  friend bool operator==(const ShardSpec&, const ShardSpec&) = default;
};

// An op and its StepFlags: a collective hidden behind a weight-gradient product
// overlaps the next.
struct Step {
  Op op;
  uint8_t flags = 0;
  friend bool operator==(const Step&, const Step&) = default;
};
using Steps = std::vector<Step>;

// The passes of one layer. `backward` repeats scores under selective recomputation;
// a layer that recomputes whole runs `forward` again before it. Input gradients come
// before weight gradients, operator by operator.
struct LayerSteps {
  Steps forward;
  Steps backward;
};
LayerSteps ShardLayer(const LayerKind& layer, const ShardSpec& spec);

// All operators of the layer run again before its backward.
bool RecomputesWhole(const LayerKind& layer, const ShardSpec& spec);

// The range with which a layer of the workload recomputes; of no layers where it keeps
// what its backward needs.
LayerRange RecomputedRange(const Workload& workload, const ShardSpec& spec, int layer);

// `spec` as that one layer sees it: whether it recomputes whole is in `recompute`.
ShardSpec LayerSpec(const Workload& workload, const ShardSpec& spec, int layer);

// Weights and biases on one rank: those that every data-parallel rank holds, and
// those of experts, which only every expert-parallel-th of them does.
struct ParameterCount {
  int64_t dense = 0;
  int64_t expert = 0;

  int64_t Total() const { return dense + expert; }
  ParameterCount& operator+=(const ParameterCount& other) {
    dense += other.dense;
    expert += other.expert;
    return *this;
  }
};

// Tied parameters included. Split tensors are padded to a multiple of the
// degree that splits them.
ParameterCount ShardParameters(const LayerKind& layer, int tensor, int expert);

// What a layer hands to the next on another stage, per device: its rows,
// divided where sequence parallelism divides them.
Bytes BoundaryBytes(const LayerKind& layer, const ShardSpec& spec);

// FLOPs that recomputation adds to one forward of a layer on one rank.
FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec);

}  // namespace stagecraft
