// Collectives and other ways to synchronise, as patterns of messages.
//
// Participants are the ranks 0 to n - 1, unless said. `bytes` is what one rank
// ends with: the whole vector. One participant: no messages. Counts are >= 1.
// `chunks` is into how many pieces a pipelined pattern cuts what it sends. Plans send
// those that channel_patterns.h and sync_channels.h take; the others are for drivers
// of flow_simulation.h.
#pragma once

#include <cstdint>
#include <span>

#include "costmodel/random.h"
#include "costmodel/units.h"
#include "sim/network/message_pattern.h"

namespace stagecraft {

// Rank i sends to i + 1, in steps of bytes / n: n - 1 of them to gather or to
// reduce and scatter, 2 (n - 1) to reduce to all.
MessagePattern RingAllReduce(int ranks, Bytes bytes);
MessagePattern RingAllGather(int ranks, Bytes bytes);
MessagePattern RingReduceScatter(int ranks, Bytes bytes);
// Rank 0 to rank 1 to rank 2 ..., in chunks.
MessagePattern ChainBroadcast(int ranks, Bytes bytes, int chunks);

// Up a binary tree and down again, in chunks; the double tree sends each half
// of the bytes through one of two trees that share no inner rank (Sanders,
// Speck, Traff, "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", Parallel Computing 2009).
MessagePattern TreeAllReduce(int ranks, Bytes bytes, int chunks);
MessagePattern DoubleTreeAllReduce(int ranks, Bytes bytes, int chunks);
MessagePattern TreeBroadcast(int ranks, Bytes bytes, int chunks);  // from rank 0

// Ranks are node * per_node + local. Reduce-scatter in the ring of each node,
// all-reduce among the ranks of one local index, all-gather in the node; a rank
// goes on when its own part of a phase is done.
MessagePattern HierarchicalAllReduce(int nodes, int per_node, Bytes bytes);

// Each rank has bytes / n for every other. Direct: all at once. Pairwise: rank i
// sends to i + 1, i + 2, ..., each when the round before is sent and received.
MessagePattern DirectAllToAll(int ranks, Bytes bytes);
MessagePattern PairwiseAllToAll(int ranks, Bytes bytes);
// From rank i to rank j: bytes[i * ranks + j]. All at once, zeros not at all.
MessagePattern DirectAllToAllV(int ranks, std::span<const Bytes> bytes);

// 0 to 1.
MessagePattern SendReceive(Bytes bytes);

// Parameter servers: participant p sums up owned[p] bytes of what the workers
// 0 ... w - 1 have: each sends them to it, all at once, and it answers all at once when
// it has the last. Owners are workers or come after them.
MessagePattern SumByOwners(int workers, std::span<const double> owned);

// Servers that pass sums on as they form, so that both directions are busy at once:
// what two participants exchange is flows each way that wait for nothing. Servers
// sum up all; or, as in BytePS, the workers a part (BytePsParts in
// costmodel/sync_time.h), in as many flows a pair as make flows about equal, so
// that links that share bandwidth among flows end together. Precondition of
// BytePS: servers <= workers, at least two workers.
inline constexpr int kMostFlowsOfPair = 16;  // one way
MessagePattern ReductionServers(int workers, int servers, Bytes bytes);
MessagePattern BytePs(int workers, int servers, Bytes bytes);

// Each rank sends all bytes to `peers` others at once: those so many places on, the
// same places, drawn at random, for every rank, so that each receives as often as it
// sends. Precondition: peers < ranks.
MessagePattern Gossip(int ranks, int peers, Bytes bytes, Random random);

}  // namespace stagecraft
