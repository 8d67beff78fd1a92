// TaskDevices: the ranks on which tasks run, and the number of devices for which these stand.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// The rank to which a lane belongs; -1 if the schedule does not say.
inline int32_t RankOf(const Schedule& schedule, Lane lane) {
  const auto infos = schedule.lane_infos();
  const auto index = static_cast<size_t>(Index(lane));
  return index < infos.size() ? infos[index].rank : -1;
}

// The rank of the first lane that a task holds; -1 if it is not known.
inline int32_t FirstRankOf(const Schedule& schedule, TaskId task) {
  const auto lanes = schedule.lanes(task);
  return lanes.empty() ? -1 : RankOf(schedule, lanes.front());
}

// For each task the number of devices of all ranks whose lanes it holds; at least one.
std::vector<int64_t> DevicesByTask(const Schedule& schedule);

}  // namespace stagecraft
