// When the passes of given orders run if each runs as soon as it can. The engine gives the same
// times for one pipeline whose stages neither share nor reduce anything.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {

// A backward in one pass takes the time of its input and weight gradients together.
Duration TimeOf(const PassTimes& times, Phase phase);

struct PassSpan {
  Duration start;
  Duration end;
};

struct OrderTimes {
  std::vector<std::vector<PassSpan>> passes;  // [stage][position in its order]

  Duration Makespan() const;
  // The longest time that any stage takes from its first start to its last end. A step takes that
  // long if stages need not agree at its end (Zero Bubble).
  Duration LongestStage() const;
};

// Linear in the passes. Throws InputError with the sentence of FindOrderError() if some passes can
// never run.
OrderTimes TimeOrders(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches,
                      const PipelineCosts& costs);

}  // namespace stagecraft
