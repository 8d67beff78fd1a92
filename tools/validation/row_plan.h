// What a measured row ran: its network, cluster and plan, ready to simulate.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/decoder.h"
#include "sim/plan.h"
#include "sim/workload.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/stack_table.h"

namespace stagecraft {

// A row with its stack's defaults in place of what it does not state.
struct CompletedRow {
  MeasuredRow row;  // degrees at least 1, words never empty
  bool overlap_param_gather = false;
  bool with_optimizer = true;
  std::vector<std::string> defaults_used;  // "recompute none", "vocab 50304", ...
};

// Throws InputError with the reason where the row cannot be simulated: an
// architecture, order or format we do not have, a size nobody states.
CompletedRow CompleteRow(const MeasuredRow& row, const StackTable& table);

// The network of a completed row.
DecoderConfig RowDecoder(const MeasuredRow& completed);
AttentionBackend RowAttention(const MeasuredRow& completed);
DType RowPrecision(const MeasuredRow& completed);
Recompute RowRecompute(const MeasuredRow& completed);
PipelineOrder RowOrder(const MeasuredRow& completed);

struct RowPlan {
  DecoderConfig config;
  Workload workload;
  Cluster cluster;
  Plan plan;
};

// Appends what had to be assumed about the cluster to `completed`. Throws
// InputError with the reason where the degrees do not fit.
RowPlan BuildRowPlan(CompletedRow& completed);

}  // namespace stagecraft
