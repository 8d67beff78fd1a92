#include "sim/pipeline/in_flight.h"

#include <algorithm>

namespace stagecraft {

std::vector<int64_t> LeastInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                                   int64_t micro_batches) {
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return {micro_batches};
    case PipelineSchedule::kOneForwardOneBackward:
      return {std::min<int64_t>(micro_batches, stages - stage)};
    case PipelineSchedule::kInterleaved: {
      if (micro_batches < stages || chunks < 2) break;
      std::vector<int64_t> counts(chunks, stages);
      // The passes of the last chunk; those beyond the first group are of the next group's first
      // chunk.
      const int64_t last = 2 * (stages - stage - 1) + 1;
      counts.back() = std::min<int64_t>(last, stages);
      const bool has_next = micro_batches >= 2 * stages;
      if (has_next && last > stages) counts.front() += last - stages;
      return counts;
    }
    default:
      break;
  }
  return std::vector<int64_t>(chunks, 0);
}

double UsualInFlight(PipelineSchedule schedule, int stages, int chunks, int stage,
                     int64_t micro_batches) {
  const auto all = static_cast<double>(micro_batches);
  const double behind = stages - stage - 1;
  if (schedule == PipelineSchedule::kGpipe) return all;
  if (chunks == 1) return std::min(all, behind + 1);
  const double passes = 2 * behind + (chunks - 1.0) * stages + 1;
  return std::min(all, passes / chunks);
}

}  // namespace stagecraft
