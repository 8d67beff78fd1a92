// ChannelPattern: the messages of one collective over the nodes of a cluster, channel by channel,
// as NCCL lays its rings and trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/collective_method.h"
#include "costmodel/op.h"
#include "sim/network/message_pattern.h"

namespace stagecraft {

struct ChannelPattern {
  MessagePattern pattern;
  std::vector<int> devices;  // by participant of the pattern
  int steps = 1;             // successive messages, for each of which the latency counts
};

// Returns the messages of a collective. `by_node` has the devices of each node of the group, in
// ring order; there must be at least two in all.
//
// - Rings: there are as many channels as ranks on the node with the fewest (one channel inside a
//   single node), each with its share of the bytes; channel c goes through the ranks of a node from
//   its c-th on, so that each enters and leaves nodes at other ranks. With more than
//   `most_messages` in all, each pair's bytes are one flow and `steps` is 1.
// - Trees: each channel has a chain inside each node and NCCL's double binary tree over the nodes;
//   each edge carries its bytes up and down as one flow each way.
// - Direct exchanges: one flow for each pair of ranks of which one has something for the other.
ChannelPattern MakeChannels(OpKind kind, Algorithm algorithm, Bytes bytes,
                            std::span<const std::vector<int>> by_node, double most_messages);

// Whether MakeChannels() makes rings.
bool IsRing(OpKind kind, Algorithm algorithm);

// Returns what the ranks of the first `period` nodes send of these rings, if the nodes after them
// do the same in each further period: the last rank sends to the first one of the next period, and
// the first one receives whenever it does. The number of nodes is a multiple of the period, at
// least twice as large. `devices` and `steps` are those of all nodes.
ChannelPattern MakePeriodOfRings(OpKind kind, Bytes bytes,
                                 std::span<const std::vector<int>> by_node, int period,
                                 double most_messages);

}  // namespace stagecraft
