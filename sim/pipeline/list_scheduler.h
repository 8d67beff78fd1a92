// Pass orders for costs of any kind: a list scheduler, which never lets a stage wait while
// something can run on it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

struct ListScheduling {
  // Input gradients run first, and weight gradients when nothing else can run.
  bool split_backward = false;
  // What a micro-batch holds, after_input <= after_forward, [stage][chunk], and the most that each
  // stage may hold. If both are empty there is no limit.
  std::vector<std::vector<PassMemory>> memory;
  std::vector<int64_t> limits;
};

// A stage that becomes free runs one of the passes that can run by then. A forward or a backward
// goes before weight gradients, and of these two the kind that it did not run last. Within a kind
// the last chunk goes first, or the lowest micro-batch if chunks belong to several chains. A chunk
// runs its micro-batches in turn.
//
// A forward waits if it would leave its stage with too little memory for an earlier micro-batch to
// finish once those before it have finished. So no limit that holds any single micro-batch leads to
// a deadlock. Throws InputError for a limit that does not hold one.
//
// It is greedy: a pass that has begun delays a more important one that could run a moment later.
// With the memory of 1F1B it takes 1F1B's time on equal stages; on pipelines whose passes differ by
// up to a factor of two it takes 1 % more on average and 19 % at worst, and compared with
// interleaved 1F1B 6 % and 50 % more (orders_benchmark.cc). On equal stages with split backwards it
// is as fast as ZB-H1, ZB-H2 and ZB-V with their memory. The same input gives the same orders.
// Takes time in passes * (chunks + log(stages)).
PassOrders ListScheduledOrders(const ChunkMap& map, int micro_batches, const PipelineCosts& costs,
                               const ListScheduling& options = {});

}  // namespace stagecraft
