// LoweringContext: what every part of a lowering reads, and the schedule that all of them write.
//
// A lowering makes one context, and each part takes it as its first argument: AddUpdate(context,
// passes). Parts run one after another, in the order that lowering.cc names, and each adds to what
// the parts before it have made.
#pragma once

#include <span>

#include "costmodel/op.h"
#include "sim/cluster/cluster.h"
#include "sim/lowering/fold.h"
#include "sim/lowering/lowering.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/lowering/op_sequence_table.h"
#include "sim/lowering/parameter_buckets.h"
#include "sim/lowering/traffic_rules.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct LoweringContext {
  // The arguments must outlive the context, and no other plan may be placed in `memory` meanwhile.
  LoweringContext(const Plan& plan, const Workload& workload, const Cluster& cluster,
                  const LoweringOptions& options, LoweringMemory& memory);
  LoweringContext(const LoweringContext&) = delete;

  int stages() const { return static_cast<int>(plan.stages.size()); }
  const Folding& folding() const { return placed.folding(); }

  // Adds a task that runs one op and holds all `lanes`.
  TaskId AddTask(const Op& op, std::span<const Lane> lanes, std::span<const TaskId> after,
                 const Tag& tag);

  // The input.
  const Plan& plan;
  const Workload& workload;
  const Cluster& cluster;
  const bool updates;  // whether the weights are updated at the end of the step

  // How the cluster connects the plan's devices; both remember their earlier answers.
  LoweringMemory& memory;
  PlacedPlan& placed;

  // What follows from the plan.
  const TrafficRules rules;
  const ParameterBuckets buckets;

  // The schedule under construction, and its distinct ops and op sequences.
  Schedule::Builder builder;
  OpSequenceTable op_sequences;
};

}  // namespace stagecraft
