// How long it takes to synchronise gradients by other methods than NCCL's choice: the closed forms
// of sync_time.h at the rates that NCCL counts for the links, and NCCL's latency of the Simple
// protocol, one hop for each round of messages.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/nccl_tuning.h"
#include "costmodel/op.h"

namespace stagecraft {

// CHECKs that op.sync is not kAllReduce. Zero for one rank. Rings and trees are priced as
// PredictCollective() does if NCCL has no other choice.
Estimate PredictSync(const Op& op, const Device& device, const NcclTuning& tuning);

}  // namespace stagecraft
