#include "sim/pipeline/pipeline_schedule.h"

#include <fmt/core.h>

namespace stagecraft {
namespace {

constexpr bool RowsFollowTheEnum() {
  int row = 0;
  for (const PipelineScheduleTraits& traits : kPipelineScheduleTraits) {
    if (static_cast<int>(traits.schedule) != row++) return false;
  }
  return true;
}
static_assert(RowsFollowTheEnum());

}  // namespace

std::vector<PipelineSchedule> NamedPipelineSchedules() {
  std::vector<PipelineSchedule> schedules;
  for (const PipelineScheduleTraits& traits : kPipelineScheduleTraits) {
    if (!IsCustom(traits.schedule)) schedules.push_back(traits.schedule);
  }
  return schedules;
}

std::optional<PipelineSchedule> FindPipelineSchedule(std::string_view name) {
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    if (name == Name(schedule)) return schedule;
  }
  return std::nullopt;
}

PipelineSchedule ForChunks(PipelineSchedule schedule, int chunks) {
  const bool is_interleaved = schedule == PipelineSchedule::kOneForwardOneBackward && chunks > 1;
  return is_interleaved ? PipelineSchedule::kInterleaved : schedule;
}

std::string FindChunkError(PipelineSchedule schedule, Placement placement, int stages, int chunks) {
  const auto [least, most] = TraitsOf(schedule).chunks;
  if (chunks < least || chunks > most) {
    return fmt::format("order: {} with {} chunk{} per stage, want {}{}", Name(schedule), chunks,
                       chunks == 1 ? "" : "s", least == most ? "" : "at least ", least);
  }
  if (placement == Placement::kBidirectional && (chunks % 2 != 0 || stages % chunks != 0)) {
    return fmt::format(
        "order: {} with {} stages and {} chunks of each, want an even number of chunks that "
        "divides the stages",
        Name(schedule), stages, chunks);
  }
  return "";
}

}  // namespace stagecraft
