// PassBlocks: the op sequences that the passes of one worker run.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/lowering/lowered_worker.h"
#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class PassBlocks {
 public:
  // Adds them to the schedule. The context must outlive it.
  PassBlocks(LoweringContext& context, const LoweredWorker& worker);

  // Of a pass of the same worker, one block for each of its parts: a bucket each where traffic
  // of the buckets runs beside this pass (TrafficRules), otherwise the whole chunk. `paired`:
  // beside another pass.
  std::span<const BlockId> Parts(const LoweredWorker& worker, const Pass& pass, bool paired) const;

 private:
  // By Phase.
  struct ChunkBlocks {
    std::array<std::vector<BlockId>, 4> whole, divided, paired;
  };

  bool IsDivided(const LoweredWorker& worker, const Pass& pass) const;

  const TrafficRules& rules_;
  std::vector<ChunkBlocks> chunks_;
};

}  // namespace stagecraft
