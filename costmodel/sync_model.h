// How long it takes to synchronise gradients in other ways than NCCL's choice: the
// closed forms of sync_time.h at the rates NCCL has of the links, and NCCL's latency
// of the Simple protocol, one hop for each round of messages.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/nccl_tuning.h"
#include "costmodel/op.h"

namespace stagecraft {

// CHECKs that op.sync is not kAllReduce. One rank: zero. Rings and trees: as
// PredictCollective() where NCCL has no other choice.
Estimate PredictSync(const Op& op, const Device& device, const NcclTuning& tuning);

}  // namespace stagecraft
