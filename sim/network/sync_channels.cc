#include "sim/network/sync_channels.h"

#include <utility>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/random.h"
#include "sim/network/collective_patterns.h"

namespace stagecraft {
namespace {

// A pattern, and how many messages follow one another in it.
struct Rounds {
  MessagePattern pattern;
  int steps = 1;
};

Rounds Hierarchical(Bytes bytes, std::span<const std::vector<int>> by_node) {
  const int nodes = static_cast<int>(by_node.size());
  const int per_node = static_cast<int>(by_node[0].size());
  for (const std::vector<int>& node : by_node) CHECK(node.size() == by_node[0].size());
  return {HierarchicalAllReduce(nodes, per_node, bytes), 2 * (nodes - 1) + 2 * (per_node - 1)};
}

// Parameter servers of equal parts: participants [first, first + count) of `participants`.
Rounds Owned(int workers, int participants, int first, int count, double bytes) {
  std::vector<double> owned(participants, 0.0);
  for (int owner = first; owner < first + count; ++owner) owned[owner] = bytes / count;
  return {SumByOwners(workers, owned), 2};
}

Rounds RoundsOf(const Op& op, std::span<const std::vector<int>> by_node, int workers) {
  const GradientSync& sync = op.sync;
  const double bytes = static_cast<double>(op.bytes.count());
  switch (sync.method) {
    case SyncMethod::kHierarchical:
      return Hierarchical(op.bytes, by_node);
    case SyncMethod::kParameterServer:
      return Owned(workers, workers + sync.servers, workers, sync.servers, bytes);
    case SyncMethod::kShardedParameterServer:
      return Owned(workers, workers, 0, workers, bytes);
    case SyncMethod::kRollingServer:
      return Owned(workers, workers, sync.serving, 1, bytes);
    case SyncMethod::kGossip:
      return {Gossip(workers, sync.peers, op.bytes, Random(workers)), 1};
    case SyncMethod::kReductionServer:
      return {ReductionServers(workers, sync.servers, op.bytes), 1};
    case SyncMethod::kBytePs:
      return {BytePs(workers, sync.servers, op.bytes), 1};
    default:
      CHECK(!IsNccl(sync.method));
      return {};
  }
}

}  // namespace

int64_t CountSyncFlows(const Op& op) {
  const int64_t ranks = op.fabric.ranks;
  const int64_t with_servers = 2 * ranks * op.sync.servers;
  switch (op.sync.method) {
    case SyncMethod::kParameterServer:
    case SyncMethod::kReductionServer:
      return with_servers;
    case SyncMethod::kShardedParameterServer:
      return 2 * ranks * (ranks - 1);
    case SyncMethod::kRollingServer:
      return 2 * (ranks - 1);
    case SyncMethod::kGossip:
      return ranks * op.sync.peers;
    case SyncMethod::kBytePs:
      return (op.sync.servers > 0 ? kMostFlowsOfPair : 1) * (ranks * (ranks - 1) + with_servers);
    default:
      return 3 * ranks;  // rings inside, across and inside
  }
}

ChannelPattern MakeSyncChannels(const Op& op, std::span<const std::vector<int>> by_node,
                                std::span<const int> servers) {
  ChannelPattern result;
  for (const std::vector<int>& node : by_node) {
    result.devices.insert(result.devices.end(), node.begin(), node.end());
  }
  const int workers = static_cast<int>(result.devices.size());
  CHECK(workers >= 2 && static_cast<int>(servers.size()) == op.sync.servers);
  result.devices.insert(result.devices.end(), servers.begin(), servers.end());
  Rounds rounds = RoundsOf(op, by_node, workers);
  result.pattern = std::move(rounds.pattern);
  result.steps = rounds.steps;
  return result;
}

}  // namespace stagecraft
