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
  double elementwise_traffic = 1;  // as in Framework, like the next field
  bool composes_operators = false;
  // Bytes of an element of the gradients as they are added up; 0: they stay as GEMMs make them.
  // With a single micro-batch, or sharded gradients, a copy to where they are reduced moves as
  // much.
  int gradient_bytes = 0;
  bool adds_gradients_apart = false;
  bool exposes_tensor_gradients = false;  // as in Framework
  // With zero 3, as in Framework; whether the backward has gathers of its own.
  ShardCopies shard_copies = ShardCopies::kNone;
  bool gathers_for_backward = false;
  // As in Framework: of weights, and of what norms and residuals make.
  bool casts_weights = false, casts_activations = false;
  ContextExchange context_exchange = ContextExchange::kRing;
  Fabric context_fabric;
  Fabric expert_fabric;
  ExpertExchange expert_exchange = {};
  // ExpertSends::kOncePerNode sends among the ranks of the expert group in one node, and among one
  // rank of every node.
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
  // The same for the rows that the operator computes (Operator::row_share): all, and those of norms
  // and residuals, which sequence parallelism divides further.
  int64_t RowsOf(const Operator& op) const { return RowsOf(op.positions, op.row_share); }
  int64_t SplitRowsOf(const Operator& op) const { return SplitRowsOf(op.positions, op.row_share); }
  // The rows that a layer hands on.
  int64_t BoundaryRowsOf(const LayerKind& layer) const {
    return SplitRowsOf(layer.boundary_positions, layer.boundary_share);
  }
  // Attention: rows of keys of a sample, and how many of them each query reads.
  int64_t KeysOf(const Operator& op) const {
    return op.keys > 0 ? op.keys
                       : ShareUp(op.row_share, op.positions > 0 ? op.positions : sequence);
  }
  int64_t ReadKeysOf(const Operator& op) const { return ShareUp(op.score_density, KeysOf(op)); }
  // Rows of the fullest rank of an expert group over the mean.
  double ExpertImbalanceOf(const Operator& op) const;
  // The format of activations, and of GEMMs between them, and the bytes of an element.
  DType ActivationType() const { return WorkingType(precision); }
  int ElementBytes() const { return ElementBits(ActivationType()) / 8; }
  // What the framework moves where one fused kernel would move this many bytes.
  Bytes Moved(int64_t bytes) const {
    return Bytes(std::llround(elementwise_traffic * static_cast<double>(bytes)));
  }
  friend bool operator==(const ShardSpec&, const ShardSpec&) = default;

 private:
  int64_t RowsOf(int64_t positions, double share) const {
    return DivideUp(micro_batch * ShareUp(share, positions > 0 ? positions : sequence), context);
  }
  int64_t SplitRowsOf(int64_t positions, double share) const {
    const int64_t rows = RowsOf(positions, share);
    return sequence_parallel ? DivideUp(rows, tensor) : rows;
  }
};

// An op and its StepFlags: a collective that is hidden behind a weight-gradient GEMM overlaps the
// next op.
struct Step {
  Op op;
  uint8_t flags = 0;
  friend bool operator==(const Step&, const Step&) = default;
};
using Steps = std::vector<Step>;

// The passes of one layer. Nothing runs forward in a layer whose output is cached. `backward`
// repeats what Recompute::kSelective and kOperators do not keep, and the operators of
// RecomputedParts; a layer that is recomputed as a whole runs `forward` again before it. Input
// gradients come before weight gradients, operator by operator; gradients that a frozen layer does
// not need (GradientsOf) are left out. The head has GEMMs of at least 16 bits: recipes of fewer
// leave it out (in Megatron-core it is no layer of Transformer Engine; torchtitan filters
// `output`).
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

// Return all parameters, and those that are trained, with tied ones. Split tensors are padded to a
// multiple of the degree that splits them, entries of sparse ones to kEntriesTogether.
ParameterCount ShardParameters(const LayerKind& layer, int tensor, int expert);
ParameterCount ShardTrained(const LayerKind& layer, int tensor, int expert);

// The parameters of an operator on one rank, of all its experts there.
int64_t OperatorParameters(const Operator& op, int tensor, int expert);

// The entries of one of its matrices on one rank. Precondition: it is stored sparse.
int64_t OperatorEntries(const Operator& op, int tensor);

// Returns the bytes that say where the entries of sparse matrices are, on one rank: 4 for the
// column of each, and 4 for the beginning and the end of the rows.
Bytes ShardIndices(const LayerKind& layer, int tensor, int expert);

// Return the number of elements of each dense parameter tensor on one rank, of all or of those that
// are trained, in the order of use: a matrix and its bias are two, as are the weights and biases of
// a norm. They add up to `dense` of the counts above but for padding.
std::vector<int64_t> ShardTensors(const LayerKind& layer, int tensor);
std::vector<int64_t> ShardTrainedTensors(const LayerKind& layer, int tensor);

// Returns what each device hands from a layer to the next one on another stage: its rows, divided
// if sequence parallelism divides them.
Bytes BoundaryBytes(const LayerKind& layer, const ShardSpec& spec);

// Returns the FLOPs that recomputation adds to one forward of a layer on one rank.
FlopCount RecomputedFlops(const LayerKind& layer, const ShardSpec& spec);

}  // namespace stagecraft
