// Patterns along rings and chains.
#include <array>
#include <numeric>
#include <vector>

#include "sim/network/collective_patterns.h"
#include "sim/network/pattern_parts.h"

namespace stagecraft {
namespace {

MessagePattern Ring(int ranks, Bytes bytes, int steps) {
  MessagePattern pattern;
  if (ranks == 1) return pattern;
  std::vector<int> ring(ranks);
  std::iota(ring.begin(), ring.end(), 0);
  AddRing(ring, steps, static_cast<double>(bytes.count()) / ranks, &pattern);
  return pattern;
}

}  // namespace

MessagePattern RingAllReduce(int ranks, Bytes bytes) { return Ring(ranks, bytes, 2 * (ranks - 1)); }

MessagePattern RingAllGather(int ranks, Bytes bytes) { return Ring(ranks, bytes, ranks - 1); }

MessagePattern RingReduceScatter(int ranks, Bytes bytes) { return Ring(ranks, bytes, ranks - 1); }

MessagePattern ChainBroadcast(int ranks, Bytes bytes, int chunks) {
  MessagePattern pattern;
  const int32_t first = pattern.AddCounters(ranks - 1);
  for (int rank = 0; rank + 1 < ranks; ++rank) {
    MessageSender sender;
    sender.messages = chunks;
    sender.bytes = static_cast<double>(bytes.count()) / chunks;
    sender.pair = pattern.AddPair({rank, rank + 1});
    sender.counter = first + rank;
    std::vector<MessageNeed> needs;
    if (rank > 0) needs.push_back({first + rank - 1, 0, 1, 1});
    pattern.AddSender(sender, needs);
  }
  return pattern;
}

// Counters: for each rank what it has received inside its node, then for each rank what it has
// received from other nodes.
MessagePattern HierarchicalAllReduce(int nodes, int per_node, Bytes bytes) {
  if (nodes == 1) return RingAllReduce(per_node, bytes);
  if (per_node == 1) return RingAllReduce(nodes, bytes);
  MessagePattern pattern;
  const int ranks = nodes * per_node;
  const int32_t inner = pattern.AddCounters(ranks);
  const int32_t outer = pattern.AddCounters(ranks);
  const double part = static_cast<double>(bytes.count()) / per_node;
  const int scatter_steps = per_node - 1;
  const int outer_steps = 2 * (nodes - 1);
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = rank / per_node;
    const int local = rank % per_node;
    const int next_local = node * per_node + (local + 1) % per_node;
    const int next_node = (node + 1) % nodes * per_node + local;
    MessageSender inside;
    inside.messages = 2 * scatter_steps;
    inside.bytes = part;
    inside.pair = pattern.AddPair({rank, next_local});
    inside.counter = inner + next_local;
    pattern.AddSender(inside, std::array{MessageNeed{inner + rank, 1, 1, 0},
                                         MessageNeed{outer + rank, scatter_steps, 0, outer_steps}});
    MessageSender across;
    across.messages = outer_steps;
    across.bytes = part / nodes;
    across.pair = pattern.AddPair({rank, next_node});
    across.counter = outer + next_node;
    pattern.AddSender(across, std::array{MessageNeed{inner + rank, 0, 0, scatter_steps},
                                         MessageNeed{outer + rank, 1, 1, 0}});
  }
  return pattern;
}

}  // namespace stagecraft
