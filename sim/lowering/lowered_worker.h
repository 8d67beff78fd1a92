// LoweredWorker: a replica of a stage as it is simulated.
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
  int instance = 0;  // which PipelineInstance of the folding it is of
  int stage = 0;
  int replica = 0;             // as the plan counts
  int shard = 0;               // in the block table
  std::vector<int32_t> ranks;  // simulated ranks: one, or every device
  // Its lanes, by rank; sends where the pipeline has several stages.
  std::vector<Lane> compute, send_next, send_previous, data;
  PassOrder order;
  std::vector<Pass> first_forward;    // by chunk
  std::vector<Pass> last_backward;    // by chunk: after it weight gradients are complete
  std::vector<WeightUpdate> updates;  // among its passes; of asynchronous pipelines

  // The weight gradients of an update among its passes are complete with this pass.
  bool CompletesUpdate(const Pass& pass) const;
};

// Adds the ranks and lanes of a replica, `position` in its instance, that runs this order.
LoweredWorker AddWorker(LoweringContext& context, int instance, int stage, int position,
                        PassOrder order);

// What PassTasks takes of a worker.
PipelineWorker ToPipelineWorker(const LoweredWorker& worker, int position, bool sends_block);

}  // namespace stagecraft
