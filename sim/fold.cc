#include "sim/fold.h"

#include <algorithm>
#include <map>

#include "sim/stage_order.h"

namespace stagecraft {
namespace {

using Signature = std::vector<int64_t>;

void Append(const Link& link, Signature& signature) {
  signature.push_back(static_cast<int64_t>(link.kind));
  signature.push_back(link.latency.ns());
  signature.push_back(static_cast<int64_t>(link.bandwidth.bytes_per_s()));
}

void Append(const Fabric& fabric, Signature& signature) {
  signature.insert(signature.end(),
                   {fabric.ranks, fabric.nodes, fabric.ranks_per_node, fabric.nvls});
  Append(fabric.intra, signature);
  Append(fabric.inter, signature);
}

// All devices of the sender's replica on its node send at the same time.
int Concurrent(const Cluster& cluster, const std::vector<int>& replica, int sender) {
  const int node = cluster.place(sender).node;
  return static_cast<int>(std::count_if(replica.begin(), replica.end(), [&](int device) {
    return cluster.place(device).node == node;
  }));
}

// TransferFabric() of many pairs, of which few are unlike.
class TransferTable {
 public:
  TransferTable(const Plan& plan, const Cluster& cluster) : plan_(plan), cluster_(cluster) {}

  const Fabric& Find(int from_stage, int from_replica, int to_stage, int to_replica, int index) {
    const TransferEnds ends =
        FindTransferEnds(plan_, from_stage, from_replica, to_stage, to_replica, index);
    const int concurrent =
        Concurrent(cluster_, plan_.stages[from_stage].replicas[from_replica], ends.sender);
    const auto [entry, is_new] =
        fabrics_.try_emplace({cluster_.PairClass(ends.sender, ends.receiver), concurrent});
    if (is_new) {
      entry->second = cluster_.DescribePair(ends.sender, ends.receiver, concurrent);
    }
    return entry->second;
  }

 private:
  const Plan& plan_;
  const Cluster& cluster_;
  std::map<std::pair<int64_t, int>, Fabric> fabrics_;  // by class and messages at once
};

// Everything that decides how long a replica's work takes.
Signature ReplicaSignature(const Plan& plan, const Workload& workload, const Cluster& cluster,
                           int replica, TransferTable& transfers) {
  Signature signature;
  const int stages = static_cast<int>(plan.stages.size());
  for (int stage = 0; stage < stages; ++stage) {
    for (const int device : plan.stages[stage].replicas[replica]) {
      signature.push_back(cluster.device_group(device));
    }
    const ShardSpec spec = StageShard(plan, workload, cluster, stage, replica);
    Append(spec.tensor_fabric, signature);
    Append(spec.context_fabric, signature);
    Append(spec.expert_fabric, signature);
    signature.push_back(StageShares(plan, stage).Count(replica));
    if (stages == 1) continue;
    const int next = (stage + 1) % stages;
    Append(transfers.Find(stage, replica, next, replica, 0), signature);
    Append(transfers.Find(next, replica, stage, replica, 0), signature);
  }
  return signature;
}

// Whether every device of a replica sees the same groups and routes, so that
// one rank can stand for all.
bool RanksAreAlike(const Plan& plan, const Cluster& cluster, TransferTable& transfers) {
  if (plan.gradient_sync.servers > 0) return false;  // each group has servers of its own
  // What is beside a device on its memory is not told by its groups and routes.
  if (!cluster.shared_memories().empty()) return false;
  const int stages = static_cast<int>(plan.stages.size());
  for (int s = 0; s < stages; ++s) {
    const Stage& stage = plan.stages[s];
    const Fabric first = cluster.DescribeGroup(DataDevices(plan, s, 0));
    for (int tensor = 1; tensor < stage.tensor_parallel; ++tensor) {
      if (cluster.DescribeGroup(DataDevices(plan, s, tensor)) != first) return false;
    }
    const int next = (s + 1) % stages;
    const int replicas = static_cast<int>(stage.replicas.size());
    if (next == s || static_cast<int>(plan.stages[next].replicas.size()) != replicas) continue;
    // Stages may have more devices a replica than their neighbours.
    const auto are_alike = [&](int from, int to, int replica) {
      const Fabric first_device = transfers.Find(from, replica, to, replica, 0);
      const int devices = static_cast<int>(plan.stages[from].replicas[replica].size());
      for (int i = 1; i < devices; ++i) {
        if (transfers.Find(from, replica, to, replica, i) != first_device) return false;
      }
      return true;
    };
    for (int replica = 0; replica < replicas; ++replica) {
      if (!are_alike(s, next, replica) || !are_alike(next, s, replica)) return false;
    }
  }
  return true;
}

PipelineInstance WholePipeline(const Plan& plan) {
  PipelineInstance instance;
  for (const Stage& stage : plan.stages) {
    std::vector<int> replicas(stage.replicas.size());
    for (size_t r = 0; r < replicas.size(); ++r) replicas[r] = static_cast<int>(r);
    instance.replicas.push_back(std::move(replicas));
  }
  return instance;
}

}  // namespace

std::vector<int> DataDevices(const Plan& plan, int stage, int tensor) {
  std::vector<int> devices;
  for (const int peer : MapOf(plan).Peers(stage)) {
    const std::vector<int> own = ReplicaDevices(plan.stages[peer], tensor);
    devices.insert(devices.end(), own.begin(), own.end());
  }
  return devices;
}

TransferEnds FindTransferEnds(const Plan& plan, int from_stage, int from_replica, int to_stage,
                              int to_replica, int index) {
  const std::vector<int>& from = plan.stages[from_stage].replicas[from_replica];
  const std::vector<int>& to = plan.stages[to_stage].replicas[to_replica];
  return {from[index], to[static_cast<size_t>(index) % to.size()]};
}

Fabric TransferFabric(const Plan& plan, const Cluster& cluster, int from_stage, int from_replica,
                      int to_stage, int to_replica, int index) {
  const auto [sender, receiver] =
      FindTransferEnds(plan, from_stage, from_replica, to_stage, to_replica, index);
  const std::vector<int>& from = plan.stages[from_stage].replicas[from_replica];
  return cluster.DescribePair(sender, receiver, Concurrent(cluster, from, sender));
}

Folding FoldReplicas(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     bool unfold) {
  Folding folding;
  TransferTable transfers(plan, cluster);
  folding.unfold_ranks = unfold || !RanksAreAlike(plan, cluster, transfers);
  if (!HasSeparatePipelines(plan)) {
    folding.instances.push_back(WholePipeline(plan));
    return folding;
  }
  std::map<Signature, size_t> classes;
  const int replicas = static_cast<int>(plan.stages[0].replicas.size());
  for (int r = 0; r < replicas; ++r) {
    if (!folding.unfold_ranks) {
      const auto [entry, is_new] = classes.try_emplace(
          ReplicaSignature(plan, workload, cluster, r, transfers), folding.instances.size());
      if (!is_new) {
        ++folding.instances[entry->second].multiplicity;
        continue;
      }
    }
    PipelineInstance instance;
    instance.replicas.assign(plan.stages.size(), {r});
    folding.instances.push_back(std::move(instance));
  }
  return folding;
}

}  // namespace stagecraft
