// The ops of single operators on one rank, after sharding.
#pragma once

#include "sim/shard/shard.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Appends the forward or the backward ops of an operator, including collectives. A backward has the
// ops of those gradients that are asked for; input gradients come before weight gradients. Nothing
// is appended for an operator that computes no rows.
void AppendForward(const Operator& op, const ShardSpec& spec, Steps& steps);
void AppendBackward(const Operator& op, const OperatorGradients& gradients, const ShardSpec& spec,
                    Steps& steps);

}  // namespace stagecraft
