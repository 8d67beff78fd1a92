#include "sim/data_groups.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/fold.h"
#include "sim/sync_lowering.h"

namespace stagecraft {
namespace {

// What the group that spans most sees.
Fabric WidestFabric(const Cluster& cluster, const DeviceGroups& groups) {
  Fabric widest;
  bool is_first = true;
  for (const std::vector<int32_t>& group : groups) {
    const Fabric fabric = cluster.DescribeGroup(group);
    const bool is_wider =
        fabric.nodes > widest.nodes ||
        (fabric.nodes == widest.nodes && fabric.inter.bandwidth < widest.inter.bandwidth);
    if (is_first || is_wider) widest = fabric;
    is_first = false;
  }
  return widest;
}

Communicator MakeCommunicator(const Cluster& cluster, DeviceGroups groups,
                              Schedule::Builder& builder) {
  const Fabric fabric = WidestFabric(cluster, groups);
  return {fabric, builder.AddCommunicator(std::move(groups))};
}

// With as many of the servers for each group.
Communicator MakeSyncCommunicator(const Plan& plan, const Cluster& cluster, DeviceGroups groups,
                                  std::span<const int> servers, Schedule::Builder& builder) {
  const auto each = static_cast<size_t>(plan.gradient_sync.servers);
  Communicator communicator = {WidestFabric(cluster, groups), -1,
                               DescribeSync(plan.gradient_sync, cluster, groups, servers)};
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::span<const int> own = servers.subspan(i * each, each);
    groups[i].insert(groups[i].end(), own.begin(), own.end());
  }
  communicator.id = builder.AddCommunicator(std::move(groups));
  return communicator;
}

// Of data-parallel ranks in a row every `stride`-th holds the same.
Holders DescribeHolders(const Plan& plan, const Cluster& cluster, size_t stride,
                        const std::vector<int>& devices, std::span<const int> servers,
                        Schedule::Builder& builder) {
  const size_t size = plan.zero_group > 0 ? plan.zero_group : devices.size();
  DeviceGroups all(stride), sharing(devices.size() / size * stride), copies(size);
  for (size_t i = 0; i < devices.size(); ++i) {
    all[i % stride].push_back(devices[i]);
    sharing[i / size * stride + i % stride].push_back(devices[i]);
    copies[i % size].push_back(devices[i]);
  }
  return {MakeSyncCommunicator(plan, cluster, std::move(all), servers, builder),
          MakeCommunicator(cluster, std::move(sharing), builder),
          MakeCommunicator(cluster, std::move(copies), builder)};
}

}  // namespace

std::vector<DataGroup> FindDataGroups(const Plan& plan, const Cluster& cluster,
                                      const LoweredPasses& passes, int stage,
                                      Schedule::Builder& builder) {
  const Stage& s = plan.stages[stage];
  const bool unfolded = passes.folding().unfold_ranks;
  const auto servers_of_group = static_cast<size_t>(plan.gradient_sync.servers) * s.expert_parallel;
  const std::vector<int> servers = SyncServers(plan, cluster, stage);
  const std::vector<int> peers = MapOf(plan).Peers(stage);
  std::vector<DataGroup> groups;
  for (int tensor = 0; tensor < (unfolded ? s.tensor_parallel : 1); ++tensor) {
    DataGroup group;
    const std::vector<int> devices = DataDevices(plan, stage, tensor);
    const std::span<const int> own =
        std::span(servers).subspan(tensor * servers_of_group, servers_of_group);
    group.dense = DescribeHolders(plan, cluster, 1, devices, own, builder);
    group.experts = DescribeHolders(plan, cluster, s.expert_parallel, devices, own, builder);
    for (const LoweredWorker& worker : passes.workers()) {
      if (std::find(peers.begin(), peers.end(), worker.stage) == peers.end()) continue;
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
