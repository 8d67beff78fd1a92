// Patterns in which ranks write to many others.
#include <algorithm>
#include <array>
#include <vector>

#include "costmodel/check.h"
#include "sim/network/collective_patterns.h"
#include "sim/network/pattern_parts.h"

namespace stagecraft {
namespace {

double Part(Bytes bytes, int parts) { return static_cast<double>(bytes.count()) / parts; }

}  // namespace

MessagePattern DirectAllToAll(int ranks, Bytes bytes) {
  MessagePattern pattern;
  const int32_t counter = pattern.AddCounters(1);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to) AddFlows({from, to}, Part(bytes, ranks), 1, counter, {}, &pattern);
    }
  }
  return pattern;
}

MessagePattern DirectAllToAllV(int ranks, std::span<const Bytes> bytes) {
  CHECK(static_cast<int64_t>(bytes.size()) == int64_t{ranks} * ranks);
  MessagePattern pattern;
  const int32_t counter = pattern.AddCounters(1);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      const Bytes part = bytes[static_cast<size_t>(from) * ranks + to];
      if (from != to && part > Bytes())
        AddFlows({from, to}, Part(part, 1), 1, counter, {}, &pattern);
    }
  }
  return pattern;
}

// The counter of a rank counts what it has received: one message in each round.
MessagePattern PairwiseAllToAll(int ranks, Bytes bytes) {
  MessagePattern pattern;
  if (ranks == 1) return pattern;
  const int32_t received = pattern.AddCounters(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    MessageSender sender;
    sender.messages = ranks - 1;
    sender.bytes = Part(bytes, ranks);
    sender.pair_step = 1;
    sender.counter = received;
    sender.turn = rank + 1;
    sender.turns = ranks;
    for (int round = 1; round < ranks; ++round) {
      const int32_t pair = pattern.AddPair({rank, (rank + round) % ranks});
      if (round == 1) sender.pair = pair;
    }
    pattern.AddSender(sender, std::array{MessageNeed{received + rank, 1, 1, 0}});
  }
  return pattern;
}

MessagePattern SendReceive(Bytes bytes) {
  MessagePattern pattern;
  AddFlows({0, 1}, Part(bytes, 1), 1, pattern.AddCounters(1), {}, &pattern);
  return pattern;
}

MessagePattern Gossip(int ranks, int peers, Bytes bytes, Random random) {
  CHECK(peers < ranks);
  MessagePattern pattern;
  const int32_t counter = pattern.AddCounters(1);
  std::vector<int> places;
  while (static_cast<int>(places.size()) < peers) {
    const int place = static_cast<int>(random.Integer(1, ranks - 1));
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    for (const int place : places) {
      AddFlows({rank, (rank + place) % ranks}, Part(bytes, 1), 1, counter, {}, &pattern);
    }
  }
  return pattern;
}

}  // namespace stagecraft
