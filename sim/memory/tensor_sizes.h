// Sizes of the tensors of an operator on one rank.
#pragma once

#include "costmodel/units.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// A tensor kept from forward to backward.
Bytes SavedBytes(const SavedTensor& tensor, const Operator& op, const ShardSpec& spec);

// One that the operator reads; else it is made beside the output.
bool IsInput(const SavedTensor& tensor, const Operator& op);

// The weight gradient is a product of its own, which may run later.
bool IsProduct(const Operator& op);

// What the operator reads of one operand, before the collective that begins it.
Bytes InputBytes(const Operator& op, const ShardSpec& spec);

// What the operator hands on, after the collective that ends it.
Bytes OutputBytes(const Operator& op, const ShardSpec& spec);

// The gradient of a product's output as its weight gradient reads it: gathered
// where sequence parallelism has split it.
Bytes ProductGradientBytes(const Operator& op, const ShardSpec& spec);

// What the operator holds only while it runs: gathered inputs and partial sums of
// sequence parallelism, scores of unfused attention, 32-bit sums of fused one.
Bytes ForwardScratch(const Operator& op, const ShardSpec& spec);
Bytes BackwardScratch(const Operator& op, const ShardSpec& spec);

// The operator's weights in the working precision.
Bytes WeightBytes(const Operator& op, const ShardSpec& spec);

}  // namespace stagecraft
