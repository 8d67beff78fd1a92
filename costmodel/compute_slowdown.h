// ComputeSlowdown: what compute on a GPU loses while a collective runs beside it.
//
// NCCL runs each collective as one kernel, with a block of threads for every channel, and each
// block keeps a multiprocessor to itself (NCCL's documentation of NCCL_MAX_CTAS). Other kernels
// then share the multiprocessors that are left. Where board power limits the clock (board_power.h),
// fewer multiprocessors that compute can run at a higher one, which makes up for part of the loss.
#pragma once

#include "costmodel/collective_method.h"
#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// Returns the share of its speed that compute loses, in [0, 1). Zero for messages between two
// ranks, which take one or two channels, for CPUs, and if nothing runs.
double ComputeSlowdown(const Op& op, const CollectiveMethod& method, const Device& device);

}  // namespace stagecraft
