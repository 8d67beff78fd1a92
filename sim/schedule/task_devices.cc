#include "sim/schedule/task_devices.h"

#include <algorithm>

namespace stagecraft {

std::vector<int64_t> DevicesByTask(const Schedule& schedule) {
  std::vector<int64_t> devices(schedule.task_count());
  std::vector<TaskId> last_seen(schedule.ranks().size(), -1);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const Lane lane : schedule.lanes(task)) {
      const int32_t rank = RankOf(schedule, lane);
      if (rank < 0 || last_seen[rank] == task) continue;
      last_seen[rank] = task;
      devices[task] += schedule.ranks()[rank].multiplicity;
    }
    devices[task] = std::max<int64_t>(devices[task], 1);
  }
  return devices;
}

}  // namespace stagecraft
