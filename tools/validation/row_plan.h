// What a measured row ran: its network, cluster and plan, ready to be simulated.
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

// Throws an InputError with the reason if the row cannot be simulated: an architecture, pipeline
// schedule or format that does not exist here, or a size that nobody states.
CompletedRow CompleteRow(const MeasuredRow& row, const RowFacts& facts, const StackTable& stacks);

Recompute RowRecompute(const MeasuredRow& completed);

// "zb-auto-2p" is zb-auto as its authors ran it, with twice 1F1B's activations.
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

// Appends what had to be assumed about the cluster to `completed`. Throws an InputError with the
// reason if the degrees do not fit.
RowPlan BuildRowPlan(CompletedRow& completed);

}  // namespace stagecraft
