// What pipeline_schedule_traits.h says of the orders, as functions.
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
// All that go by their name alone, without the custom one.
std::vector<PipelineSchedule> NamedPipelineSchedules();
// One of these.
std::optional<PipelineSchedule> FindPipelineSchedule(std::string_view name);
// Its passes are spelled out, in a plan or a file.
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

// 1F1B of several chunks a stage is interleaved 1F1B.
PipelineSchedule ForChunks(PipelineSchedule schedule, int chunks);
// What is wrong with so many stages and chunks of each, as a sentence; empty where
// they suit.
std::string FindChunkError(PipelineSchedule schedule, Placement placement, int stages, int chunks);

}  // namespace stagecraft
