#include "sim/lowering/replica_copies.h"

#include <algorithm>
#include <numeric>

#include "sim/cluster/alike_nodes.h"

namespace stagecraft {
namespace {

// With more kinds of replicas than this, those that are left count as their own originals.
constexpr size_t kMostKinds = 64;

// The number of consecutive replicas after which groups that share experts begin anew.
int ReplicasOfExperts(const Plan& plan) {
  int replicas = 1;
  for (const Stage& stage : plan.stages) {
    const int together = std::lcm(stage.expert_parallel, stage.context_parallel);
    replicas = std::lcm(replicas, together / stage.context_parallel);
  }
  return replicas;
}

// Compares `count` replicas from `first` on with those from `original` on.
bool AreCopies(const Plan& plan, const Cluster& cluster, int original, int first, int count) {
  const auto place_of = [&](int replica) {
    return cluster.place(plan.stages[0].replicas[replica][0]);
  };
  const int old_node = place_of(original).node, new_node = place_of(first).node;
  const int nodes_on = new_node - old_node;
  const int domains_on = cluster.domain(new_node) - cluster.domain(old_node);
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < count; ++r) {
      const std::vector<int>& olds = plan.stages[s].replicas[original + r];
      const std::vector<int>& news = plan.stages[s].replicas[first + r];
      for (size_t i = 0; i < olds.size(); ++i) {
        const DevicePlace x = cluster.place(olds[i]), y = cluster.place(news[i]);
        if (x.local != y.local || y.node - x.node != nodes_on) return false;
        if (cluster.domain(y.node) - cluster.domain(x.node) != domains_on) return false;
        if (cluster.device_group(olds[i]) != cluster.device_group(news[i])) return false;
      }
      if (ReplicaMicroBatches(plan, s, original + r) != ReplicaMicroBatches(plan, s, first + r)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<int> FindOriginals(const Plan& plan, const Cluster& cluster) {
  const int replicas = static_cast<int>(plan.stages[0].replicas.size());
  std::vector<int> originals(replicas);
  std::iota(originals.begin(), originals.end(), 0);
  if (!NodesAreAlike(cluster)) return originals;
  const int together = ReplicasOfExperts(plan);
  std::vector<int> kinds;  // by their first replicas
  for (int first = 0; first + together <= replicas; first += together) {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](int original) {
      return AreCopies(plan, cluster, original, first, together);
    });
    if (kind == kinds.end()) {
      if (kinds.size() < kMostKinds) kinds.push_back(first);
      continue;
    }
    for (int r = 0; r < together; ++r) originals[first + r] = *kind + r;
  }
  return originals;
}

}  // namespace stagecraft
