// These are the sizes of the tensors of an operator on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the bytes of a tensor that is kept from forward to backward.
Bytes SavedBytes(const SavedTensor& tensor, const Operator& op, const ShardSpec& spec);

// Returns whether the operator reads the tensor; otherwise it makes the tensor besides its output.
bool IsInput(const SavedTensor& tensor, const Operator& op);

// Returns whether the weight gradient is a GEMM of its own, which may run later.
bool IsProduct(const Operator& op);

// Returns the bytes that the operator reads of one operand, before the collective with which it
// begins.
Bytes InputBytes(const Operator& op, const ShardSpec& spec);

// Returns the bytes that the operator hands on, after the collective with which it ends.
Bytes OutputBytes(const Operator& op, const ShardSpec& spec);

// Returns the bytes of the gradient of a GEMM's output as its weight gradient reads it: gathered if
// sequence parallelism has split it.
Bytes ProductGradientBytes(const Operator& op, const ShardSpec& spec);

// Returns whether the operator is unfused attention, which writes its scores to memory.
bool KeepsScores(const Operator& op, const ShardSpec& spec);

// Returns the bytes of the attention scores in the working precision: one number for each query,
// key and head.
Bytes ScoreBytes(const Operator& op, const ShardSpec& spec);

// Return the bytes that the operator holds only while it runs: gathered inputs and partial sums of
// sequence parallelism, scores of unfused attention, 32-bit sums of fused attention. Gradients of
// scores are not among them.
Bytes ForwardScratch(const Operator& op, const ShardSpec& spec);
Bytes BackwardScratch(const Operator& op, const ShardSpec& spec);

// Returns the bytes of the operator's weights in the working precision.
Bytes WeightBytes(const Operator& op, const ShardSpec& spec);

// Returns the features of the matrices that one GEMM of a layer merges, which stand for a GEMM each
// where layers are written with a matrix for queries, keys and values, and with two for a gated
// activation. `v` is the GEMM's vertex.
std::vector<int64_t> MergedMatrices(const LayerKind& layer, size_t v);

}  // namespace stagecraft
