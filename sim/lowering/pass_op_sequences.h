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
  // Adds the op sequences to the schedule. The context must outlive this.
  PassOpSequences(LoweringContext& context, const LoweredWorker& worker);

  // Returns the op sequences of a pass of the same worker, one for each part. Every bucket is a
  // part if traffic of buckets runs beside this pass (TrafficRules); otherwise the whole chunk is
  // one part. `paired`: the pass runs beside another one.
  std::span<const OpSequenceId> Parts(const LoweredWorker& worker, const Pass& pass,
                                      bool paired) const;
  // Returns the exchanges between experts of such a pass, if it runs beside another one and leaves
  // them out; else -1.
  OpSequenceId Exchanges(const LoweredWorker& worker, const Pass& pass) const;

 private:
  static constexpr std::array<OpSequenceId, 4> kNone = {-1, -1, -1, -1};

  // The op sequences of a chunk's passes. Arrays are indexed by Phase.
  struct ChunkOpSequences {
    std::array<OpSequenceId, 4> whole = kNone, paired = kNone, exchanges = kNone;
    std::array<std::vector<OpSequenceId>, 4> divided;
  };

  // Adds those of a pass through the whole chunk, the first time.
  void AddWhole(LoweringContext& context, const LoweredWorker& worker, const Pass& pass);
  bool IsDivided(const LoweredWorker& worker, const Pass& pass) const;

  const TrafficRules& rules_;
  std::vector<ChunkOpSequences> chunks_;
};

}  // namespace stagecraft
