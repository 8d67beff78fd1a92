// RowPlan: what a measured row ran, namely its network, cluster and plan, ready to be simulated.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/completed_row.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/row_network.h"

namespace stagecraft {

// Replaces what the row does not state by facts and by its stack's defaults. Throws an InputError
// with the reason if the row cannot be simulated: for an architecture, pipeline schedule or number
// format that does not exist here, or a size that is neither stated nor known.
CompletedRow CompleteRow(const MeasuredRow& row, const RowFacts& facts, const StackTable& stacks,
                         const StepConstants& constants = {});

Recompute RowRecompute(const MeasuredRow& completed);

// The schedule of a row with its options. "zb-auto-2p" is zb-auto as its authors ran it, with twice
// 1F1B's activations.
struct RowSchedule {
  PipelineSchedule name = PipelineSchedule::kOneForwardOneBackward;
  PipelineScheduleOptions options;
};
RowSchedule ScheduleOfRow(const std::string& name);

struct RowPlan {
  RowNetwork network;
  Cluster cluster;
  Plan plan;
};

// Builds all three, and appends what had to be assumed about the cluster to `completed`. Throws an
// InputError with the reason if the degrees do not fit.
RowPlan BuildRowPlan(CompletedRow& completed);

}  // namespace stagecraft
