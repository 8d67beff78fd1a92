// GradientSync: how ranks that hold the same parameters agree on their gradients.
#pragma once

#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {

// kAllReduce, as NCCL chooses; kRing and kTree, NCCL's with that algorithm alone.
// kHierarchical: reduced and scattered inside each node, all-reduced among the
// ranks of one local index, gathered inside each node.
// A parameter server sums up what all ranks push and then answers them:
// kParameterServer, servers beyond the ranks that each hold a part;
// kShardedParameterServer, every rank is the server of a part; kRollingServer, one
// rank of the group serves for a step, the next one for the next.
// kGossip: every rank averages with a few others; nothing agrees exactly.
// kReductionServer and kBytePs: servers that pass sums on as they form; BytePS
// sums up a part on the ranks too.
enum class SyncMethod {
  kAllReduce,
  kRing,
  kTree,
  kHierarchical,
  kParameterServer,
  kShardedParameterServer,
  kRollingServer,
  kGossip,
  kReductionServer,
  kBytePs
};
inline constexpr int kSyncMethodCount = 10;
const char* Name(SyncMethod method);

// Has servers beyond the ranks: at least one, with BytePS any number.
constexpr bool TakesServers(SyncMethod method) {
  return method == SyncMethod::kParameterServer || method == SyncMethod::kReductionServer ||
         method == SyncMethod::kBytePs;
}
// Runs as NCCL runs collectives.
constexpr bool IsNccl(SyncMethod method) { return method <= SyncMethod::kTree; }

// A value, part of an Op. Fields a method does not use stay zero.
struct GradientSync {
  SyncMethod method = SyncMethod::kAllReduce;
  int servers = 0;   // beyond the ranks
  int peers = 0;     // gossip: to whom each rank sends, below the ranks
  int serving = 0;   // rolling server: which rank it is, counted node by node
  Duration timeout;  // rolling server: spent on a dead one before it
  Link server;       // of one server, to and from the ranks
  Link worker;       // of one rank to servers, while all ranks of its node use theirs
  friend bool operator==(const GradientSync&, const GradientSync&) = default;
};

}  // namespace stagecraft
