#include "sim/pipeline/order_period.h"

#include "sim/pipeline/vocabulary_placement.h"

namespace stagecraft {

std::optional<OrderPeriod> FindPeriod(PipelineSchedule schedule,
                                      const PipelineScheduleOptions& options, int stages) {
  OrderPeriod period;
  if (IsSplit(options.vocabulary)) return std::nullopt;
  switch (schedule) {
    case PipelineSchedule::kOneForwardOneBackward:
      // A pipeline that waits for its messages has a period as long as the pipeline.
      period.unit = stages;
      period.least = 3 * stages + 4;
      period.first = 2 * stages;
      break;
    case PipelineSchedule::kInterleaved:
      period.group = options.groups.size == 0 ? stages : options.groups.size;
      period.unit = period.group;
      period.least = 4 * period.group;
      period.first = 3 * period.group;
      break;
    default:
      return std::nullopt;
  }
  const bool warms_up_longer = options.warmup == WarmupPolicy::kB || options.pairs_passes;
  if (Reads(schedule, kReadsWarmup) && warms_up_longer) {
    period.least += stages;
    period.first += stages;
  }
  return period;
}

}  // namespace stagecraft
