// Sizes of the tensors of an operator on one rank.
#pragma once

#include "costmodel/units.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// The bytes of a tensor that is kept from forward to backward.
Bytes SavedBytes(const SavedTensor& tensor, const Operator& op, const ShardSpec& spec);

// Whether the tensor is one that the operator reads; otherwise it is made besides the output.
bool IsInput(const SavedTensor& tensor, const Operator& op);

// Whether the weight gradient is a GEMM of its own, which may run later.
bool IsProduct(const Operator& op);

// What the operator reads of one operand, before the collective with which it begins.
Bytes InputBytes(const Operator& op, const ShardSpec& spec);

// What the operator hands on, after the collective with which it ends.
Bytes OutputBytes(const Operator& op, const ShardSpec& spec);

// The gradient of a GEMM's output as its weight gradient reads it: gathered if sequence parallelism
// has split it.
Bytes ProductGradientBytes(const Operator& op, const ShardSpec& spec);

// What the operator holds only while it runs: gathered inputs and partial sums of sequence
// parallelism, scores of unfused attention, 32-bit sums of fused attention.
Bytes ForwardScratch(const Operator& op, const ShardSpec& spec);
Bytes BackwardScratch(const Operator& op, const ShardSpec& spec);

// The weights of the operator in the working precision.
Bytes WeightBytes(const Operator& op, const ShardSpec& spec);

}  // namespace stagecraft
