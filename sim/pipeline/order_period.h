// OrderPeriod: after how many micro-batches a schedule repeats itself.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {

struct OrderPeriod {
  int64_t group = 1;  // micro-batches that the schedule takes together
  int64_t unit = 1;   // a divisor of every period, in micro-batches
  int64_t least = 0;  // micro-batches needed to fill the pipeline, settle and drain it
  int64_t first = 0;  // fewer of them, which are enough for most pipelines
};

// Returns nothing for a schedule that never ends, or that does not alternate forwards and backwards
// micro-batch after micro-batch as 1F1B and interleaved 1F1B do.
std::optional<OrderPeriod> FindPeriod(PipelineSchedule schedule,
                                      const PipelineScheduleOptions& options, int stages);

}  // namespace stagecraft
