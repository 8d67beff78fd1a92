// The ops of single operators on one rank, after sharding.
#pragma once

#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Appends the forward or the backward ops of an operator, including collectives. Input gradients
// come before weight gradients.
void AppendForward(const Operator& op, const ShardSpec& spec, Steps& steps);
void AppendBackward(const Operator& op, const ShardSpec& spec, Steps& steps);

}  // namespace stagecraft
