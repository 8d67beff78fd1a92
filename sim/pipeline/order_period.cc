#include "sim/pipeline/order_period.h"

namespace stagecraft {

std::optional<OrderPeriod> FindPeriod(PipelineOrder order, const OrderOptions& options,
                                      int stages) {
  OrderPeriod period;
  switch (order) {
    case PipelineOrder::kOneForwardOneBackward:
      // That of a pipeline that waits for its messages is as long as the pipeline.
      period.unit = stages;
      period.least = 3 * stages + 4;
      break;
    case PipelineOrder::kInterleaved:
      period.group = options.groups.size == 0 ? stages : options.groups.size;
      period.unit = period.group;
      period.least = 4 * period.group;
      break;
    default:
      return std::nullopt;
  }
  if (Reads(order, kReadsWarmup) && options.warmup == WarmupPolicy::kB) period.least += stages;
  return period;
}

}  // namespace stagecraft
