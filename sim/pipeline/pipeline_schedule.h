// Functions that look up the traits of pipeline schedules (pipeline_schedule_traits.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/pipeline_schedule_traits.h"

namespace stagecraft {

constexpr const PipelineScheduleTraits& TraitsOf(PipelineSchedule schedule) {
  return kPipelineScheduleTraits[static_cast<int>(schedule)];
}

constexpr const char* Name(PipelineSchedule schedule) { return TraitsOf(schedule).name; }
// Returns all schedules that a name is enough to make, which are all but the custom one.
std::vector<PipelineSchedule> NamedPipelineSchedules();
// Returns the one of them with this name.
std::optional<PipelineSchedule> FindPipelineSchedule(std::string_view name);
// Whether a plan or a file lists its passes.
constexpr bool IsCustom(PipelineSchedule schedule) { return schedule == PipelineSchedule::kCustom; }

constexpr Placement PlacementOf(PipelineSchedule schedule) { return TraitsOf(schedule).placement; }
constexpr bool SplitsBackward(PipelineSchedule schedule) {
  return TraitsOf(schedule).splits_backward;
}
constexpr bool NeedsCosts(PipelineSchedule schedule) { return TraitsOf(schedule).needs_costs; }
constexpr int LeastChunks(PipelineSchedule schedule) { return TraitsOf(schedule).chunks.least; }
constexpr bool Reads(PipelineSchedule schedule, PipelineScheduleOption option) {
  return (TraitsOf(schedule).options & option) != 0;
}
constexpr bool IsAsynchronous(PipelineSchedule schedule) {
  return TraitsOf(schedule).weight_change != WeightChange::kAfterFlush;
}
constexpr bool UpdatesEveryMiniBatch(PipelineSchedule schedule) {
  return TraitsOf(schedule).weight_change == WeightChange::kEveryMiniBatch;
}

// Returns the interleaved schedule for 1F1B with several chunks per stage, and otherwise `schedule`
// itself.
PipelineSchedule ForChunks(PipelineSchedule schedule, int chunks);
// Returns why a schedule cannot run this many stages with this many chunks each, as a sentence;
// empty if it can.
std::string FindChunkError(PipelineSchedule schedule, Placement placement, int stages, int chunks);

}  // namespace stagecraft
