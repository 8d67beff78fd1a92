// What a measured row ran: its network, cluster and plan, ready to simulate.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/workload.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_network.h"
#include "tools/validation/stack_table.h"

namespace stagecraft {

// A row with its stack's defaults in place of what it does not state.
struct CompletedRow {
  MeasuredRow row;  // degrees at least 1, words never empty
  bool overlap_param_gather = false;
  bool post_validation = false;
  bool with_optimizer = true;
  Optimizer optimizer = Optimizer::kAdam;
  int64_t bucket_bytes = 0;
  int gradient_bytes = 0;                  // 0: as the precision has it
  bool counts_every_rank = false;          // a step of n data-parallel ranks is n steps
  double memory_unit = 1;                  // bytes that the row counts as one
  double tokens_per_position = 1;          // 2 where source and target both count
  std::vector<std::string> defaults_used;  // "recompute none", "vocab 50304", ...
};

// Throws InputError with the reason where the row cannot be simulated: an
// architecture, order or format we do not have, a size nobody states.
CompletedRow CompleteRow(const MeasuredRow& row, const StackTable& table);

Recompute RowRecompute(const MeasuredRow& completed);
// "zb-auto-2p" is zb-auto as its authors ran it, with twice 1F1B's activations.
struct RowSchedule {
  PipelineOrder order = PipelineOrder::kOneForwardOneBackward;
  OrderOptions options;
};
RowSchedule RowOrder(const std::string& name);

struct RowPlan {
  RowNetwork network;
  Cluster cluster;
  Plan plan;
};

// Appends what had to be assumed about the cluster to `completed`. Throws
// InputError with the reason where the degrees do not fit.
RowPlan BuildRowPlan(CompletedRow& completed);

}  // namespace stagecraft
