// TaskDevices: which ranks tasks run on, and how many devices those stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedule/schedule.h"

namespace stagecraft {

// The rank a lane is of; -1 where the schedule does not say.
inline int32_t RankOf(const Schedule& schedule, Lane lane) {
  const auto infos = schedule.lane_infos();
  const auto index = static_cast<size_t>(Index(lane));
  return index < infos.size() ? infos[index].rank : -1;
}

// Of the first lane a task holds; -1 where it is not known.
inline int32_t FirstRankOf(const Schedule& schedule, TaskId task) {
  const auto lanes = schedule.lanes(task);
  return lanes.empty() ? -1 : RankOf(schedule, lanes.front());
}

// By task, the devices of all ranks whose lanes it holds; at least one.
std::vector<int64_t> DevicesByTask(const Schedule& schedule);

}  // namespace stagecraft
