// The ops of attention on one rank, fused or not, with what context parallelism exchanges before,
// beside and after it.
#pragma once

#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Append the forward or the backward ops of an operator of kind kAttention. The backward repeats
// the forward of unfused attention under selective recomputation.
void AppendAttentionForward(const Operator& op, const ShardSpec& spec, Steps& steps);
void AppendAttentionBackward(const Operator& op, const ShardSpec& spec, Steps& steps);

}  // namespace stagecraft
