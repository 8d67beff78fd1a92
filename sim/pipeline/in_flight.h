// How many micro-batches stages have in flight, as far as that is known without making pass orders.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {

// Returns, by chunk, how many micro-batches a stage has in flight at least, in all chunks at the
// same moment. With 1F1B a stage runs as many forwards ahead as there are stages after it;
// interleaved 1F1B does what InterleavedOrder() says, with the smallest groups. For other
// schedules, of which no more is known than that one pass runs at a time, all numbers are 0.
std::vector<int64_t> LeastInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                                   int64_t micro_batches);

// Returns the most micro-batches that a stage has in flight with the usual warm-up; with several
// chunks, each counts as a fraction of the stage.
double UsualInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                     int64_t micro_batches);

}  // namespace stagecraft
