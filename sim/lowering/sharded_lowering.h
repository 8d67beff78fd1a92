// The traffic of sharded gradients (ZeRO-2) and parameters (ZeRO-3, FSDP) beside every pass of a
// stage.
#pragma once

#include <span>
#include <vector>

#include "sim/lowering/data_groups.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/lowering/lowering_context.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// For stages in which every pass gathers or reduces. One gather runs ahead of the part that
// computes (that of the next layer, as is PyTorch FSDP's default), and a reduction follows the
// gather that was issued before it; Framework::backward_prefetch can make it the other way round in
// backwards, and Framework::parameter_gather everywhere. Returns the last reduction of each group.
std::vector<TaskId> AddShardedTraffic(LoweringContext& context, const LoweredPasses& passes,
                                      int stage, std::span<const DataGroup> groups);

}  // namespace stagecraft
