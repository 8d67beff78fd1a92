// PassOpSequences: the op sequences that the passes of one worker run.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/lowering/lowered_worker.h"
#include "sim/lowering/lowering_context.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class PassOpSequences {
 public:
  // Adds them to the schedule. The context must outlive it.
  PassOpSequences(LoweringContext& context, const LoweredWorker& worker);

  // Of a pass of the same worker, one block for each of its parts: a bucket each where traffic
  // of the buckets runs beside this pass (TrafficRules), otherwise the whole chunk. `paired`:
  // beside another pass.
  std::span<const OpSequenceId> Parts(const LoweredWorker& worker, const Pass& pass,
                                      bool paired) const;

 private:
  // By Phase.
  struct ChunkOpSequences {
    std::array<std::vector<OpSequenceId>, 4> whole, divided, paired;
  };

  bool IsDivided(const LoweredWorker& worker, const Pass& pass) const;

  const TrafficRules& rules_;
  std::vector<ChunkOpSequences> chunks_;
};

}  // namespace stagecraft
