// Collectives, and other methods of synchronisation, as patterns of messages.
//
// Participants are the ranks 0 to n - 1, unless it is stated otherwise. `bytes` is what one rank
// ends with: the whole vector. With one participant there are no messages. Counts are >= 1.
// `chunks` is the number of pieces into which a pipelined pattern cuts what it sends. Plans use the
// patterns that channel_patterns.h and sync_channels.h need; the others are for drivers of
// flow_simulation.h.
#pragma once

#include <cstdint>
#include <span>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/network/message_pattern.h"

namespace stagecraft {

// Rank i sends to i + 1, bytes / n at a time: n - 1 times for an all-gather or reduce-scatter, 2 (n
// - 1) times for an all-reduce.
MessagePattern RingAllReduce(int ranks, Bytes bytes);
MessagePattern RingAllGather(int ranks, Bytes bytes);
MessagePattern RingReduceScatter(int ranks, Bytes bytes);
// Sends from rank 0 to rank 1 to rank 2 ..., in chunks.
MessagePattern ChainBroadcast(int ranks, Bytes bytes, int chunks);

// Sends up a binary tree and down again, in chunks; the double tree sends each half of the bytes
// through one of two trees that share no inner rank (Sanders, Speck, Traff, "Two-tree algorithms
// for full bandwidth broadcast, reduction and scan", Parallel Computing 2009).
MessagePattern TreeAllReduce(int ranks, Bytes bytes, int chunks);
MessagePattern DoubleTreeAllReduce(int ranks, Bytes bytes, int chunks);
MessagePattern TreeBroadcast(int ranks, Bytes bytes, int chunks);  // from rank 0

// Ranks are node * per_node + local. A reduce-scatter runs in the ring of each node, an all-reduce
// among the ranks with the same local index, and an all-gather in the node; a rank goes on when its
// own part of a phase is done.
MessagePattern HierarchicalAllReduce(int nodes, int per_node, Bytes bytes);

// Each rank has bytes / n for every other rank. Direct: all messages are sent at once. Pairwise:
// rank i sends to i + 1, i + 2, ..., each when it has sent and received the message of the round
// before.
MessagePattern DirectAllToAll(int ranks, Bytes bytes);
MessagePattern PairwiseAllToAll(int ranks, Bytes bytes);
// bytes[i * ranks + j] go from rank i to rank j, all at once; for zeros nothing is sent.
MessagePattern DirectAllToAllV(int ranks, std::span<const Bytes> bytes);

// Sends from participant 0 to participant 1.
MessagePattern SendReceive(Bytes bytes);

// Parameter servers: participant p sums up owned[p] bytes of what the workers 0 ... w - 1 have. All
// workers send it these bytes at once, and it answers all of them at once when it has received the
// last. Owners are workers or come after them.
MessagePattern SumByOwners(int workers, std::span<const double> owned);

// Servers that pass sums on as they form, so that both directions are busy at once: what two
// participants exchange is flows in both directions that wait for nothing. Either the servers sum
// up everything or, as in BytePS, the workers sum up a part (BytePsParts in costmodel/sync_time.h).
// Each pair has as many flows as make all flows about equally large, so that flows that share links
// end together. Preconditions of BytePS: servers <= workers, at least two workers.
inline constexpr int kMostFlowsOfPair = 16;  // in each direction
MessagePattern ReductionServers(int workers, int servers, Bytes bytes);
MessagePattern BytePs(int workers, int servers, Bytes bytes);

// Each rank sends all bytes to `peers` others at once. The distances to these are drawn at random
// and are the same for every rank, so that each rank receives as often as it sends. Precondition:
// peers < ranks.
MessagePattern Gossip(int ranks, int peers, Bytes bytes, Random random);

}  // namespace stagecraft
