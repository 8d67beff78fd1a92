// OrderPeriod: after how many micro-batches an order does the same again.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {

struct OrderPeriod {
  int64_t group = 1;  // micro-batches that it takes together
  int64_t unit = 1;   // any period of micro-batches divides it
  int64_t least = 0;  // micro-batches that fill the pipeline, settle and drain it
};

// Nothing where an order does not alternate forwards and backwards micro-batch after micro-batch,
// as 1F1B and interleaved 1F1B do, or never ends.
std::optional<OrderPeriod> FindPeriod(PipelineSchedule schedule,
                                      const PipelineScheduleOptions& options, int stages);

}  // namespace stagecraft
