// GradientSync: how ranks that hold the same parameters agree on their gradients.
#pragma once

#include "costmodel/link.h"
#include "costmodel/units.h"

namespace stagecraft {

// Ways to synchronise gradients:
// - kAllReduce: NCCL's all-reduce with the algorithm that NCCL chooses; kRing and kTree: NCCL's
//   all-reduce with this algorithm.
// - kHierarchical: a reduce-scatter inside each node, an all-reduce among the ranks with the same
//   index in their nodes, and an all-gather inside each node.
// - A parameter server sums up what all ranks push and then answers them. kParameterServer: servers
//   beyond the ranks each hold a part. kShardedParameterServer: every rank is the server of a part.
//   kRollingServer: one rank of the group serves for a training step, the next rank for the next
//   step.
// - kGossip: every rank averages with a few others; replicas never agree exactly.
// - kReductionServer and kBytePs: servers pass sums on as they form; with BytePS the ranks sum up a
//   part, too.
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

// Whether the method has servers beyond the ranks: at least one, or with BytePS any number, even 0.
constexpr bool TakesServers(SyncMethod method) {
  return method == SyncMethod::kParameterServer || method == SyncMethod::kReductionServer ||
         method == SyncMethod::kBytePs;
}
// Whether the method runs as a collective of NCCL.
constexpr bool IsNccl(SyncMethod method) { return method <= SyncMethod::kTree; }

// A GradientSync is a value, and part of an Op. Fields that a method does not use stay zero.
struct GradientSync {
  SyncMethod method = SyncMethod::kAllReduce;
  int servers = 0;   // beyond the ranks
  int peers = 0;     // gossip: how many others each rank sends to; fewer than the ranks
  int serving = 0;   // rolling server: which rank serves, counted node by node
  Duration timeout;  // rolling server: time lost on a dead server before this one
  Link server;       // of one server, to and from the ranks
  Link worker;       // of one rank to servers, while all ranks of its node use theirs
  friend bool operator==(const GradientSync&, const GradientSync&) = default;
};

}  // namespace stagecraft
