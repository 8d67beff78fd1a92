#include "sim/sim_executor.h"

#include <algorithm>

namespace stagecraft {

Duration BlockTime(const Schedule& schedule, BlockId block, std::span<const Estimate> estimates) {
  const auto ops = schedule.ops(block);
  const auto flags = schedule.flags(block);
  Duration free;      // the device, of the ops before
  Duration last;      // end of those side by side so far
  Duration launched;  // the host
  for (size_t i = 0; i < ops.size(); ++i) {
    const Estimate& estimate = estimates[ops[i]];
    launched += estimate.host;
    last = std::max(last, std::max(free, launched) + estimate.time);
    const bool overlaps_next = (flags[i] & kOverlapsNext) != 0 && i + 1 < ops.size();
    if (!overlaps_next) free = last;
  }
  return last;
}

Duration BoundCosts::TaskTime(const Schedule& schedule, TaskId task) const {
  const BlockId block = schedule.block(task);
  if (block < 0) return Duration();
  if (blocks.size() == 1) return blocks[0][block];
  Duration time;
  for (const Lane lane : schedule.lanes(task)) {
    const int32_t rank = schedule.lane_infos()[Index(lane)].rank;
    time = std::max(time, blocks[device_of_rank[rank]][block]);
  }
  return time;
}

BoundCosts BindCosts(const Schedule& schedule, const Cluster& cluster, const CostModel& model) {
  BoundCosts costs;
  for (const RankInfo& rank : schedule.ranks()) {
    const Device& device = cluster.device(rank.device);
    auto found = std::find(costs.devices.begin(), costs.devices.end(), device);
    if (found == costs.devices.end()) found = costs.devices.insert(found, device);
    costs.device_of_rank.push_back(static_cast<int>(found - costs.devices.begin()));
  }
  for (const Device& device : costs.devices) {
    costs.estimates.push_back(model.Predict(schedule.distinct_ops(), device));
    std::vector<Duration> blocks;
    for (BlockId block = 0; block < schedule.block_count(); ++block) {
      blocks.push_back(BlockTime(schedule, block, costs.estimates.back()));
    }
    costs.blocks.push_back(std::move(blocks));
  }
  return costs;
}

Timeline SimExecutor::Execute(const Schedule& schedule) {
  costs_ = BindCosts(schedule, cluster_, model_);
  std::vector<Duration> durations(schedule.task_count());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    durations[task] = costs_.TaskTime(schedule, task);
  }
  return engine_.Run(schedule, durations);
}

}  // namespace stagecraft
