// How many micro-batches stages hold at once, as far as it is known without making an order.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {

// The least number of micro-batches of each chunk that a stage has in flight at once. With 1F1B
// a stage runs as many forwards ahead as there are stages behind it; interleaved 1F1B does what
// InterleavedOrder() says, with the smallest groups. For other orders, of which only one pass at
// a time is certain, all numbers are 0.
std::vector<int64_t> LeastInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                                   int64_t micro_batches);

// Micro-batches that a stage holds at most, by the usual orders' warm-up; those with chunks
// count a part for each.
double UsualInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                     int64_t micro_batches);

}  // namespace stagecraft
