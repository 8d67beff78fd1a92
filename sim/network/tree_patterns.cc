// Patterns up and down binary trees.
#include <vector>

#include "sim/network/collective_patterns.h"
#include "sim/network/pattern_parts.h"

namespace stagecraft {
namespace {

// The parent of each rank, by one of the trees of pattern_parts.h.
std::vector<int> Parents(int ranks, int (*parent)(int rank, int ranks)) {
  std::vector<int> parents;
  for (int rank = 0; rank < ranks; ++rank) parents.push_back(parent(rank, ranks));
  return parents;
}

// What flows through one tree.
struct TreeLoad {
  int chunks;
  double chunk_bytes;
  bool goes_up;  // before it goes down
};

// Counters by rank: what has gone up from it, and what has come down to it.
void AddTree(const std::vector<int>& parents, const TreeLoad& load, MessagePattern* pattern) {
  const int ranks = static_cast<int>(parents.size());
  const int32_t up = load.goes_up ? pattern->AddCounters(ranks) : 0;
  const int32_t down = pattern->AddCounters(ranks);
  std::vector<std::vector<MessageNeed>> from_children(ranks);
  for (int rank = 0; rank < ranks && load.goes_up; ++rank) {
    if (parents[rank] >= 0) from_children[parents[rank]].push_back({up + rank, 0, 1, 1});
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const int parent = parents[rank];
    if (parent < 0) continue;
    MessageSender sender;
    sender.messages = load.chunks;
    sender.bytes = load.chunk_bytes;
    if (load.goes_up) {
      sender.pair = pattern->AddPair({rank, parent});
      sender.counter = up + rank;
      pattern->AddSender(sender, from_children[rank]);
    }
    sender.pair = pattern->AddPair({parent, rank});
    sender.counter = down + rank;
    const bool is_from_root = parents[parent] < 0;
    pattern->AddSender(sender, is_from_root ? from_children[parent]
                                            : std::vector<MessageNeed>{{down + parent, 0, 1, 1}});
  }
}

}  // namespace

MessagePattern TreeAllReduce(int ranks, Bytes bytes, int chunks) {
  MessagePattern pattern;
  const double chunk_bytes = static_cast<double>(bytes.count()) / chunks;
  AddTree(Parents(ranks, TreeParent), {chunks, chunk_bytes, true}, &pattern);
  return pattern;
}

MessagePattern DoubleTreeAllReduce(int ranks, Bytes bytes, int chunks) {
  MessagePattern pattern;
  const double chunk_bytes = static_cast<double>(bytes.count()) / 2 / chunks;
  AddTree(Parents(ranks, TreeParent), {chunks, chunk_bytes, true}, &pattern);
  AddTree(Parents(ranks, SecondTreeParent), {chunks, chunk_bytes, true}, &pattern);
  return pattern;
}

MessagePattern TreeBroadcast(int ranks, Bytes bytes, int chunks) {
  MessagePattern pattern;
  const double chunk_bytes = static_cast<double>(bytes.count()) / chunks;
  AddTree(Parents(ranks, TreeParent), {chunks, chunk_bytes, false}, &pattern);
  return pattern;
}

}  // namespace stagecraft
