#include "sim/lowering/sync_lowering.h"

#include <map>
#include <set>

namespace stagecraft {
namespace {

// The link between two devices while `concurrent` messages leave or enter a node, with what slow
// links leave of its bandwidth.
Link LinkBetween(const Cluster& cluster, int from, int to, int concurrent) {
  const Fabric pair = cluster.DescribePair(from, to, concurrent);
  Link link = pair.nodes > 1 ? pair.inter : pair.intra;
  link.bandwidth = (pair.nodes > 1 ? pair.inter_rate : pair.intra_rate) * link.bandwidth;
  return link;
}

// Keeps the narrower link; of two equally wide ones that with the longer latency, so that the order
// in which links are compared does not matter.
void TakeNarrower(const Link& link, Link& narrowest) {
  const bool is_first = !(narrowest.bandwidth.bytes_per_s() > 0);
  const bool is_narrower =
      link.bandwidth < narrowest.bandwidth ||
      (link.bandwidth == narrowest.bandwidth && link.latency > narrowest.latency);
  if (is_first || is_narrower) narrowest = link;
}

// Returns the rank that serves; a dead one is skipped. If it is alone in its group, nothing is
// synchronised.
int ServingRank(const SyncOptions& options, int ranks) {
  const int first = static_cast<int>(options.step % ranks);
  return first == options.dead_server ? (first + 1) % ranks : first;
}

}  // namespace

std::vector<int> SyncServers(const Plan& plan, const Cluster& cluster, int stage) {
  if (plan.gradient_sync.servers == 0) return {};
  std::vector<bool> works(cluster.device_count(), false);
  int64_t before = 0;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& other = plan.stages[s];
    const int64_t groups = static_cast<int64_t>(other.tensor_parallel) * other.expert_parallel;
    if (static_cast<int>(s) < stage) before += groups * plan.gradient_sync.servers;
    for (const std::vector<int>& replica : other.replicas) {
      for (const int device : replica) works[device] = true;
    }
  }
  std::vector<int> spare;
  for (int device = 0; device < cluster.device_count(); ++device) {
    if (!works[device]) spare.push_back(device);
  }
  const Stage& own = plan.stages[stage];
  const int64_t count =
      static_cast<int64_t>(plan.gradient_sync.servers) * own.tensor_parallel * own.expert_parallel;
  return {spare.begin() + before, spare.begin() + before + count};
}

GradientSync DescribeSync(const SyncOptions& options, const Cluster& cluster,
                          std::span<const ServedGroup> groups) {
  GradientSync sync;
  sync.method = options.method;
  sync.servers = options.servers;
  sync.peers = options.peers;
  const int ranks = static_cast<int>(groups[0].ranks.size());
  if (options.method == SyncMethod::kRollingServer) {
    sync.serving = ServingRank(options, ranks);
    if (options.step % ranks == options.dead_server) sync.timeout = options.timeout;
  }
  if (options.servers == 0) return sync;
  std::map<int, int> ranks_on, servers_on;  // by node
  for (const ServedGroup& group : groups) {
    for (const int rank : group.ranks) ++ranks_on[cluster.place(rank).node];
    for (const int server : group.servers) ++servers_on[cluster.place(server).node];
  }
  for (const ServedGroup& group : groups) {
    std::set<int> seen;
    for (const int rank : group.ranks) {
      const int node = cluster.place(rank).node;
      const bool is_first = seen.insert(node).second;
      for (const int server : group.servers) {
        // To another node one rank stands for all ranks of its node; within a node, pairs may
        // differ.
        if (!is_first && cluster.place(server).node != node) continue;
        const int at_server = servers_on[cluster.place(server).node];
        TakeNarrower(LinkBetween(cluster, rank, server, ranks_on[node]), sync.worker);
        TakeNarrower(LinkBetween(cluster, rank, server, at_server), sync.server);
      }
    }
  }
  return sync;
}

}  // namespace stagecraft
