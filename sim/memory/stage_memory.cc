#include "sim/memory/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/host_offload.h"
#include "sim/lowering.h"
#include "sim/memory/rank_tensors.h"

namespace stagecraft {
namespace {

// The device with least memory, of equals the first.
int SmallestDevice(const Cluster& cluster, const std::vector<int>& devices) {
  return *std::min_element(devices.begin(), devices.end(), [&](int a, int b) {
    return cluster.device(a).memory < cluster.device(b).memory;
  });
}

// Estimates replicas. Those that are alike but for their micro-batches in flight
// share the first one's share of free segments, which in a pipeline has most of them.
class Estimator {
 public:
  Estimator(const Plan& plan, const Workload& workload, const Cluster& cluster,
            const FrameworkMemory& framework)
      : plan_(plan), cluster_(cluster), maker_(plan, workload, cluster, framework) {}

  StageMemory Estimate(int stage, int replica) {
    RankTensors rank = maker_.Make(stage, replica);
    const PassOrder& order = OrderOf(stage, replica);
    StageMemory memory;
    memory.stage = stage;
    memory.device = SmallestDevice(cluster_, plan_.stages[stage].replicas[replica]);
    memory.capacity = cluster_.device(memory.device).memory;
    memory.weights = rank.states.weights;
    memory.gradients = rank.states.gradients;
    memory.optimizer = rank.states.optimizer;
    memory.communication = rank.messages + rank.nccl;
    memory.framework = ContextMemory();
    memory.host = rank.states.host;
    memory.host_capacity = HostShare(plan_, cluster_, memory.device);
    const RankPeak peak = WalkRank(rank, order);
    memory.host += peak.host;
    memory.activations = peak.activations;
    memory.workspace = peak.workspace;
    memory.allocated = peak.allocated;
    const Bytes room = memory.capacity - memory.framework - rank.nccl;
    const double share = Share(std::move(rank), order, room);
    memory.fragmentation =
        Bytes(std::llround((share - 1) * static_cast<double>(memory.allocated.count())));
    return memory;
  }

 private:
  // Pipelines of as many micro-batches run the same orders, made of all stages at once.
  const PassOrder& OrderOf(int stage, int replica) {
    if (!HasSeparatePipelines(plan_)) return own_ = StageOrder(plan_, stage, replica);
    PipelineOrders& orders = orders_[StageShares(plan_, 0).Count(replica)];
    if (orders.empty()) orders = PipelineOrdersOf(plan_, replica);
    return orders[stage];
  }

  struct Replayed {
    RankTensors rank;
    Bytes room;
    double reserved_share = 1;
  };

  double Share(RankTensors rank, const PassOrder& order, Bytes room) {
    for (const Replayed& known : replayed_) {
      if (known.room == room && known.rank == rank) return known.reserved_share;
    }
    const double share = ReservedShare(rank, order, room);
    replayed_.push_back({std::move(rank), room, share});
    return share;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  RankTensorsMaker maker_;
  PassOrder own_;
  std::map<int, PipelineOrders> orders_;  // by micro-batches
  std::vector<Replayed> replayed_;
};

}  // namespace

StageMemory EstimateReplicaMemory(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster, int stage, int replica,
                                  const FrameworkMemory& framework) {
  return Estimator(plan, workload, cluster, framework).Estimate(stage, replica);
}

std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster, const FrameworkMemory& framework) {
  Estimator estimator(plan, workload, cluster, framework);
  std::vector<StageMemory> stages;
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    // Replicas differ by their micro-batches and the memory of their boards; of
    // those that do not, the first stands for all.
    const auto& replicas = plan.stages[stage].replicas;
    const MicroBatchShares shares = StageShares(plan, stage);
    std::set<std::pair<Bytes, int>> seen;
    std::optional<StageMemory> fullest;
    for (int r = 0; r < static_cast<int>(replicas.size()); ++r) {
      const Bytes capacity = cluster.device(SmallestDevice(cluster, replicas[r])).memory;
      if (!seen.emplace(capacity, shares.Count(r)).second) continue;
      const StageMemory memory = estimator.Estimate(stage, r);
      const bool is_fuller =
          !fullest || memory.capacity - memory.Peak() < fullest->capacity - fullest->Peak();
      if (is_fuller) fullest = memory;
    }
    stages.push_back(*fullest);
  }
  return stages;
}

}  // namespace stagecraft
