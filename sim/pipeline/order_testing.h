// For tests: what the pass orders of every schedule must fulfil.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/order_errors.h"
#include "sim/pipeline/order_times.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Returns costs in which all stages, chunks and links differ.
inline PipelineCosts RandomCosts(const ChunkMap& map, Random& random) {
  PipelineCosts costs = UniformCosts(map.stages(), map.chunks(), PassTimes{}, Duration());
  for (auto& stage : costs.times) {
    for (PassTimes& times : stage) {
      times.forward = Duration::Nanoseconds(random.Integer(1, 100));
      times.backward_input = Duration::Nanoseconds(random.Integer(1, 100));
      times.backward_weight = Duration::Nanoseconds(random.Integer(1, 100));
    }
  }
  for (Duration& transfer : costs.transfers) {
    transfer = Duration::Nanoseconds(random.Integer(0, 50));
  }
  return costs;
}

// Returns the time of one micro-batch alone, there and back, without its weight gradients, which
// can wait.
inline Duration CriticalPath(const ChunkMap& map, const PipelineCosts& costs, int chain) {
  Duration path;
  for (int index = 0; index < map.length(); ++index) {
    const ChunkMap::Place place = map.PlaceOf({chain, index});
    const PassTimes& times = costs.times[place.stage][place.chunk];
    path += times.forward + times.backward_input;
    if (index + 1 == map.length()) break;
    path += 2 * costs.Transfer(place.stage, map.PlaceOf({chain, index + 1}).stage);
  }
  return path;
}

inline Duration BusiestStage(const ChunkMap& map, const PipelineCosts& costs, int micro_batches) {
  Duration busiest;
  for (int stage = 0; stage < map.stages(); ++stage) {
    Duration busy;
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const int chain = map.PartAt({stage, chunk}).chain;
      const PassTimes& times = costs.times[stage][chunk];
      busy += map.MicroBatches(chain, micro_batches) * (times.forward + times.Backward());
    }
    busiest = std::max(busiest, busy);
  }
  return busiest;
}

// Checks that every pass runs once, that nothing deadlocks, that no stage has more than
// `most_in_flight` passes in flight, and that all is no faster than one micro-batch or the busiest
// stage alone. Returns the makespan.
inline Duration CheckOrders(const ChunkMap& map, std::span<const PassOrder> orders,
                            int micro_batches, const PipelineCosts& costs, int most_in_flight) {
  const auto error = FindOrderError(map, orders, micro_batches, false);
  EXPECT_EQ(error, std::nullopt);
  if (error) return Duration();
  for (const PassOrder& order : orders) EXPECT_LE(PeakInFlight(order), most_in_flight);
  const Duration makespan = TimeOrders(map, orders, micro_batches, costs).Makespan();
  EXPECT_GE(makespan, BusiestStage(map, costs, micro_batches));
  for (int chain = 0; chain < map.chains(); ++chain) {
    if (map.MicroBatches(chain, micro_batches) == 0) continue;
    EXPECT_GE(makespan, CriticalPath(map, costs, chain));
  }
  return makespan;
}

}  // namespace stagecraft
