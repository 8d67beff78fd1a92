#include "sim/lowering/data_groups.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/cluster/slowest_group.h"
#include "sim/lowering/exchange_devices.h"
#include "sim/lowering/holder_groups.h"
#include "sim/lowering/lowering_memory.h"
#include "sim/lowering/sync_lowering.h"

namespace stagecraft {
namespace {

// The fabric of the slowest group.
Fabric SlowestOf(LoweringMemory& memory, const DeviceGroups& groups) {
  Fabric slowest = memory.DescribeGroup(groups[0]);
  for (size_t i = 1; i < groups.size(); ++i) {
    const Fabric& fabric = memory.DescribeGroup(groups[i]);
    if (IsSlower(fabric, slowest)) slowest = fabric;
  }
  return slowest;
}

Communicator MakeCommunicator(LoweringContext& context, DeviceGroups groups) {
  const Fabric fabric = SlowestOf(context.memory, groups);
  return {fabric, context.builder.AddCommunicator(std::move(groups))};
}

// Describes the data-parallel ranks of one stage.
class StageGroups {
 public:
  StageGroups(LoweringContext& context, int stage, int tensor_groups)
      : context_(context),
        experts_(context.plan.stages[stage].expert_parallel),
        servers_(SyncServers(context.plan, context.cluster, stage)) {
    for (int tensor = 0; tensor < tensor_groups; ++tensor) {
      devices_.push_back(DataDevices(context.plan, stage, tensor));
    }
    dense_sync_ = DescribeAll(1);
    experts_sync_ = experts_ == 1 ? dense_sync_ : DescribeAll(experts_);
  }

  Holders Dense(int tensor) { return Describe(tensor, 1, dense_sync_); }
  Holders Experts(int tensor) { return Describe(tensor, experts_, experts_sync_); }

 private:
  std::span<const int> ServersOf(size_t tensor, size_t index) const {
    const auto each = static_cast<size_t>(context_.plan.gradient_sync.servers);
    return std::span(servers_).subspan((tensor * experts_ + index) * each, each);
  }

  // How the groups that synchronise side by side are connected.
  GradientSync DescribeAll(size_t stride) const {
    const SyncOptions& options = context_.plan.gradient_sync;
    if (options.servers == 0 && stride == 1) {  // then only the number of ranks counts
      const ServedGroup group{devices_[0], {}};
      return DescribeSync(options, context_.cluster, {&group, 1});
    }
    std::vector<DeviceGroups> by_tensor;
    for (const std::vector<int>& devices : devices_) {
      by_tensor.push_back(DivideHolders(devices, static_cast<int>(stride), 0).all);
    }
    std::vector<ServedGroup> groups;
    for (size_t tensor = 0; tensor < by_tensor.size(); ++tensor) {
      for (size_t i = 0; i < stride; ++i) {
        groups.push_back({by_tensor[tensor][i], ServersOf(tensor, i)});
      }
    }
    return DescribeSync(options, context_.cluster, groups);
  }

  Communicator Synchronising(size_t tensor, DeviceGroups groups, const GradientSync& sync) {
    Communicator communicator = {SlowestOf(context_.memory, groups), -1, sync};
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::span<const int> own = ServersOf(tensor, i);
      groups[i].insert(groups[i].end(), own.begin(), own.end());
    }
    communicator.id = context_.builder.AddCommunicator(std::move(groups));
    return communicator;
  }

  Holders Describe(size_t tensor, size_t stride, const GradientSync& sync) {
    HolderGroups groups =
        DivideHolders(devices_[tensor], static_cast<int>(stride), context_.plan.zero_group);
    Holders holders;
    holders.all = Synchronising(tensor, std::move(groups.all), sync);
    if (groups.copies.empty()) {
      holders.sharing = {holders.all.fabric, holders.all.id};
      return holders;
    }
    holders.sharing = MakeCommunicator(context_, std::move(groups.sharing));
    holders.copies = MakeCommunicator(context_, std::move(groups.copies));
    return holders;
  }

  LoweringContext& context_;
  size_t experts_;  // ranks that divide the experts
  std::vector<int> servers_;
  std::vector<std::vector<int>> devices_;  // by tensor index
  GradientSync dense_sync_, experts_sync_;
};

}  // namespace

std::vector<DataGroup> FindDataGroups(LoweringContext& context, const LoweredPasses& passes,
                                      int stage) {
  const Stage& s = context.plan.stages[stage];
  const std::vector<int> peers = MapOf(context.plan).Peers(stage);
  const int tensor_groups = context.folding().unfold_ranks ? s.tensor_parallel : 1;
  StageGroups described(context, stage, tensor_groups);
  std::vector<DataGroup> groups;
  for (int tensor = 0; tensor < tensor_groups; ++tensor) {
    DataGroup group;
    group.dense = described.Dense(tensor);
    group.experts = s.expert_parallel == 1 ? group.dense : described.Experts(tensor);
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
