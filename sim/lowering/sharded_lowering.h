// Traffic of sharded gradients (ZeRO-2) and parameters (ZeRO-3, FSDP) beside
// every pass of a stage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/lowering/data_groups.h"
#include "sim/lowering/lowered_passes.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Adds a collective of a group's ranks.
TaskId AddCollective(OpKind kind, int64_t bytes, const Communicator& among, const DataGroup& group,
                     const Tag& tag, std::span<const TaskId> after, LoweredPasses& passes,
                     Schedule::Builder& builder);

// Gathers so many parameters of a bucket on the ranks that share them. Returns
// the last task.
TaskId AddParameterGather(const Plan& plan, const ParameterCount& parameters,
                          const DataGroup& group, const Tag& tag, std::span<const TaskId> after,
                          LoweredPasses& passes, Schedule::Builder& builder);

// Reduces so many gradients of a bucket: over those that share, and among the
// copies of each share; those of experts among the ranks that hold the same.
// Returns the last task.
TaskId AddGradientReduction(const Plan& plan, const ParameterCount& parameters,
                            const DataGroup& group, const Tag& tag, std::span<const TaskId> after,
                            LoweredPasses& passes, Schedule::Builder& builder);

// For stages where passes gather or reduce every time. One gather runs ahead of
// the part that computes (the next layer's, PyTorch FSDP's default), and a
// reduction follows the gather that was issued before it. Returns the last
// reduction of each group.
std::vector<TaskId> AddShardedTraffic(const Plan& plan, int stage,
                                      std::span<const DataGroup> groups, LoweredPasses& passes,
                                      Schedule::Builder& builder);

}  // namespace stagecraft
