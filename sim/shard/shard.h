// What one rank of a stage computes and keeps for one layer: the operators of the workload, divided
// by tensor, sequence and context parallelism, as Ops.
#pragma once

#include <cmath>
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
  Recompute recompute = Recompute::kNone;  // as in Stage, like the next field
  std::vector<LayerRange> recomputed = {};
  RecomputedParts recomputed_parts = {};
  bool keeps_8_bits = false;
  AttentionBackend attention = AttentionBackend::kFlash;
  AttentionKernel attention_kernel = AttentionKernel::kUsual;
  Fabric tensor_fabric;
  double elementwise_traffic = 1;  // as in Framework
  // Bytes of an element of the gradients as they are added up; 0: they stay as GEMMs make them.
  // With a single micro-batch, or sharded gradients, a copy to where they are reduced moves as
  // much.
  int gradient_bytes = 0;
  bool adds_gradients_apart = false;
  ContextExchange context_exchange = ContextExchange::kRing;
  Fabric context_fabric;
  Fabric expert_fabric;
  ExpertExchange expert_exchange = {};
  // With ExpertSends::kOncePerNode: the ranks of the expert group in one node, and one rank of
  // every node.
  Fabric expert_node_fabric, expert_rail_fabric;
  bool multiplies_experts_apart = false;
  // Rows of the fullest expert over the mean; 1 if routing is even.
  double expert_imbalance = 1;
  // How many stages share the vocabulary (vocabulary_shard.h); 1: none, it is in the first and the
  // last layer.
  int vocabulary_shares = 1;

  // Rows of one micro-batch on one rank, for an operator that is not split by rows: micro_batch x
  // positions (0: the sequence) / context; on the rank that has the most of them.
  int64_t Rows(int64_t positions = 0) const {
    return DivideUp(micro_batch * (positions > 0 ? positions : sequence), context);
  }
  // Rows of norms and residuals, which sequence parallelism divides further.
  int64_t SplitRows(int64_t positions = 0) const {
    return sequence_parallel ? DivideUp(Rows(positions), tensor) : Rows(positions);
  }
  // The format of activations, and of GEMMs between them, and the bytes of an element.
  DType ActivationType() const { return WorkingType(precision); }
  int ElementBytes() const { return ElementBits(ActivationType()) / 8; }
  // What the framework moves where one fused kernel would move this many bytes.
  Bytes Moved(int64_t bytes) const {
    return Bytes(std::llround(elementwise_traffic * static_cast<double>(bytes)));
  }
  friend bool operator==(const ShardSpec&, const ShardSpec&) = default;
};

// An op and its StepFlags: a collective that is hidden behind a weight-gradient GEMM overlaps the
// next op.
struct Step {
  Op op;
  uint8_t flags = 0;
  friend bool operator==(const Step&, const Step&) = default;
};
using Steps = std::vector<Step>;

// The passes of one layer. `backward` repeats what Recompute::kSelective and kOperators do not
// keep, and the operators of RecomputedParts; a layer that is recomputed as a whole runs `forward`
// again before it. Input gradients come before weight gradients, operator by operator; gradients
// that a frozen layer does not need (GradientsOf) are left out. The head has GEMMs of at least 16
// bits: recipes of fewer leave it out (in Megatron-core it is no layer of Transformer Engine;
// torchtitan filters `output`).
struct LayerSteps {
  Steps forward;
  Steps backward;
};
LayerSteps ShardLayer(const LayerKind& layer, const ShardSpec& spec);

// Returns whether all operators of the layer run again before its backward, if it has one.
bool RecomputesWhole(const LayerKind& layer, const ShardSpec& spec);

// Returns whether the backward computes the operator again, as RecomputedParts says; what it makes
// is then kept by none of its readers.
bool RepeatsPart(const LayerKind& layer, const Operator& op, const ShardSpec& spec);

// Returns whether the backward of the layer repeats parts of its forward, as Recompute::kOperators
// says; they are in LayerSteps::backward.
bool RepeatsOperators(const LayerKind& layer, const ShardSpec& spec);

// Returns the range of layers with which a layer of the workload is recomputed; it is empty if the
// layer keeps what its backward needs, and begins at the first layer that has a backward.
LayerRange RecomputedRange(const Workload& workload, const ShardSpec& spec, int layer);

// Returns `spec` for that layer: `recompute` says whether it is recomputed as a whole.
ShardSpec LayerSpec(const Workload& workload, const ShardSpec& spec, int layer);

// Weights and biases on one rank: those that every data-parallel rank holds, and those of experts,
// which only one in every expert-parallel group of ranks holds.
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

// Includes tied parameters. Split tensors are padded to a multiple of the degree that splits them.
ParameterCount ShardParameters(const LayerKind& layer, int tensor, int expert);

// Returns the number of elements of each dense parameter tensor on one rank, in the order of use: a
// matrix and its bias are two, as are the weights and biases of a norm. They add up to
// ShardParameters().dense but for padding.
std::vector<int64_t> ShardTensors(const LayerKind& layer, int tensor);

// Returns what each device hands from a layer to the next one on another stage: its rows, divided
// if sequence parallelism divides them.
Bytes BoundaryBytes(const LayerKind& layer, const ShardSpec& spec);

// Returns the FLOPs that recomputation adds to one forward of a layer on one rank.
FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec);

}  // namespace stagecraft
