#include "sim/sync_lowering.h"

#include <algorithm>
#include <map>

namespace stagecraft {
namespace {

// The link between two devices while `concurrent` messages leave the sender's node.
Link LinkBetween(const Cluster& cluster, int from, int to, int concurrent) {
  const Fabric pair = cluster.DescribePair(from, to, concurrent);
  return pair.nodes > 1 ? pair.inter : pair.intra;
}

void TakeNarrower(const Link& link, bool is_first, Link& narrowest) {
  if (is_first || link.bandwidth < narrowest.bandwidth) narrowest = link;
}

// A dead rank is passed over; alone in its group, nothing is synchronised.
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
                          const DeviceGroups& groups, std::span<const int> servers) {
  GradientSync sync;
  sync.method = options.method;
  sync.servers = options.servers;
  sync.peers = options.peers;
  const int ranks = static_cast<int>(groups[0].size());
  if (options.method == SyncMethod::kRollingServer) {
    sync.serving = ServingRank(options, ranks);
    if (options.step % ranks == options.dead_server) sync.timeout = options.timeout;
  }
  const auto each = static_cast<size_t>(options.servers);
  for (size_t i = 0; i < groups.size() && each > 0; ++i) {
    const std::span<const int> own = servers.subspan(i * each, each);
    std::map<int, int> on_node;
    for (const int rank : groups[i]) ++on_node[cluster.place(rank).node];
    for (const int server : own) {
      const Link link = LinkBetween(cluster, groups[i][0], server, 1);
      TakeNarrower(link, i == 0 && server == own[0], sync.server);
    }
    for (const int rank : groups[i]) {
      const Link link = LinkBetween(cluster, rank, own[0], on_node[cluster.place(rank).node]);
      TakeNarrower(link, i == 0 && rank == groups[i][0], sync.worker);
    }
  }
  return sync;
}

}  // namespace stagecraft
