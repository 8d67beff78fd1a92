#include "sim/network/pattern_parts.h"

#include <array>

namespace stagecraft {

void AddFlows(MessagePair pair, double bytes, int flows, int32_t counter,
              std::span<const MessageNeed> needs, MessagePattern* pattern) {
  MessageSender sender;
  sender.messages = 1;
  sender.bytes = bytes / flows;
  sender.pair = pattern->AddPair(pair);
  sender.counter = counter;
  for (int i = 0; i < flows; ++i) pattern->AddSender(sender, needs);
}

void AddRing(std::span<const int> ring, int steps, double bytes_of_step, MessagePattern* pattern) {
  AddRingPart(ring, ring[0], steps, bytes_of_step, pattern);
}

void AddRingPart(std::span<const int> part, int next, int steps, double bytes_of_step,
                 MessagePattern* pattern) {
  const int ranks = static_cast<int>(part.size());
  const int32_t counters = pattern->AddCounters(ranks);
  for (int i = 0; i < ranks; ++i) {
    MessageSender sender;
    sender.messages = steps;
    sender.bytes = bytes_of_step;
    sender.pair = pattern->AddPair({part[i], i + 1 < ranks ? part[i + 1] : next});
    sender.counter = counters + i;
    const MessageNeed need{counters + (i + ranks - 1) % ranks, 1, 1, 0};
    pattern->AddSender(sender, std::array{need});
  }
}

int TreeParent(int rank, int ranks) {
  if (rank == 0) return -1;
  const int bit = rank & -rank;
  const int parent = (rank ^ bit) | (bit << 1);
  return parent < ranks ? parent : rank ^ bit;
}

int SecondTreeParent(int rank, int ranks) {
  if (ranks % 2 == 0) {
    const int parent = TreeParent(ranks - 1 - rank, ranks);
    return parent < 0 ? -1 : ranks - 1 - parent;
  }
  const int parent = TreeParent((rank + ranks - 1) % ranks, ranks);
  return parent < 0 ? -1 : (parent + 1) % ranks;
}

}  // namespace stagecraft
