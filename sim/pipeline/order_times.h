// When the passes of given orders run, each as soon as it can: the engine's answer
// for one pipeline whose stages neither share nor reduce anything.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {

// A backward in one pass takes the time of both its halves.
Duration TimeOf(const PassTimes& times, Phase phase);

struct PassSpan {
  Duration start;
  Duration end;
};

struct OrderTimes {
  std::vector<std::vector<PassSpan>> passes;  // [stage][position in its order]

  Duration Makespan() const;
  // The longest any stage takes from its first start to its last end. What a step
  // costs where stages need not agree at its end (Zero Bubble).
  Duration LongestStage() const;
};

// Linear in the passes; throws InputError, with the sentence of FindOrderError(), where some can
// never run.
OrderTimes TimeOrders(const ChunkMap& map, std::span<const PassOrder> orders, int micro_batches,
                      const PipelineCosts& costs);

}  // namespace stagecraft
