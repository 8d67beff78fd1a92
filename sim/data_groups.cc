#include "sim/data_groups.h"

#include "sim/fold.h"

namespace stagecraft {
namespace {

// Of the groups that run side by side the one that spans most: all wait for it.
Fabric Widest(const Cluster& cluster, const std::vector<std::vector<int>>& groups) {
  Fabric widest;
  bool is_first = true;
  for (const std::vector<int>& group : groups) {
    const Fabric fabric = cluster.DescribeGroup(group);
    const bool is_wider =
        fabric.nodes > widest.nodes ||
        (fabric.nodes == widest.nodes && fabric.inter.bandwidth < widest.inter.bandwidth);
    if (is_first || is_wider) widest = fabric;
    is_first = false;
  }
  return widest;
}

// Of data-parallel ranks in a row every `stride`-th holds the same.
Holders DescribeHolders(const Plan& plan, const Cluster& cluster, size_t stride,
                        const std::vector<int>& devices) {
  const size_t size = plan.zero_group > 0 ? plan.zero_group : devices.size();
  std::vector<std::vector<int>> all(stride);
  std::vector<std::vector<int>> sharing(devices.size() / size * stride);
  std::vector<std::vector<int>> copies(size);
  for (size_t i = 0; i < devices.size(); ++i) {
    all[i % stride].push_back(devices[i]);
    sharing[i / size * stride + i % stride].push_back(devices[i]);
    copies[i % size].push_back(devices[i]);
  }
  return {Widest(cluster, all), Widest(cluster, sharing), Widest(cluster, copies)};
}

}  // namespace

std::vector<DataGroup> FindDataGroups(const Plan& plan, const Cluster& cluster,
                                      const LoweredPasses& passes, int stage) {
  const Stage& s = plan.stages[stage];
  const bool unfolded = passes.folding().unfold_ranks;
  std::vector<DataGroup> groups;
  for (int tensor = 0; tensor < (unfolded ? s.tensor_parallel : 1); ++tensor) {
    DataGroup group;
    const std::vector<int> devices = DataDevices(s, tensor);
    group.dense = DescribeHolders(plan, cluster, 1, devices);
    group.experts = DescribeHolders(plan, cluster, s.expert_parallel, devices);
    for (const LoweredWorker& worker : passes.workers()) {
      if (worker.stage != stage) continue;
      if (group.rank < 0) group.rank = worker.ranks[tensor];
      for (size_t i = tensor; i < worker.data.size(); i += static_cast<size_t>(s.tensor_parallel)) {
        group.lanes.push_back(worker.data[i]);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace stagecraft
