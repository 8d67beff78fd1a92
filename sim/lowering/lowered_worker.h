// LoweredWorker: one simulated replica of a stage.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/asynchronous.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pass_tasks.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

struct LoweredWorker {
  int instance = 0;  // the PipelineInstance of the folding to which it belongs
  int stage = 0;
  int replica = 0;             // numbered as in the plan
  int shard = 0;               // in the block table
  std::vector<int32_t> ranks;  // simulated ranks: one, or every device
  // Its lanes are listed by rank; those of sends are empty if the pipeline has only one stage.
  std::vector<Lane> compute, send_next, send_previous, data;
  // Its lanes of exchanges between experts, by rank, are empty if these run inside of passes.
  std::vector<Lane> exchange;
  PassOrder order;
  std::vector<Pass> first_forward;    // by chunk
  std::vector<Pass> last_backward;    // by chunk: the pass that completes weight gradients
  std::vector<WeightUpdate> updates;  // those among its passes; only of asynchronous pipelines

  // Returns whether this pass completes the weight gradients of an update among the passes.
  bool CompletesUpdate(const Pass& pass) const;
};

// Adds the ranks and lanes of a replica that runs this order; `position` is its index in the
// instance.
LoweredWorker AddWorker(LoweringContext& context, int instance, int stage, int position,
                        PassOrder order);

// Returns what PassTasks needs to know of a worker.
PipelineWorker ToPipelineWorker(const LoweredWorker& worker, int position, bool sends_block);

}  // namespace stagecraft
