// CollectiveMethod: how a collective is run, as NCCL chooses it.
#pragma once

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// With kDirect every rank exchanges with every other, as in all-to-all and send/recv.
enum class Algorithm { kRing, kTree, kNvls, kDirect };
const char* Name(Algorithm algorithm);

enum class Protocol { kLl, kLl128, kSimple };
inline constexpr int kProtocolCount = 3;
const char* Name(Protocol protocol);

struct CollectiveMethod {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;  // copies of the ring or tree that share the links; 0: nothing runs
  friend bool operator==(const CollectiveMethod&, const CollectiveMethod&) = default;
};

// Bytes go up the tree and down again: every byte leaves a rank twice.
inline constexpr double kTreeTraffic = 2;

// Returns how long the bytes that the algorithm sends take on the busiest link at its nominal
// bandwidth, without latency; no estimate is shorter. Zero for one rank.
Duration BusiestLinkTime(const Op& op, Algorithm algorithm);
// Returns the same for the links between nodes alone; zero if no bytes leave a node.
Duration InterfaceTime(const Op& op, Algorithm algorithm);

// Returns the op as if no link were slow, and the op over links that have the bandwidth which slow
// ones leave (Fabric::intra_rate).
Op AtFullSpeed(Op op);
Op OverSlowLinks(Op op);
// Returns how much longer the op takes because of slow links: as much as its bytes take longer on
// the busiest link. Latency does not change. Zero if no link is slow.
Duration SlowLinkTime(const Op& op, Algorithm algorithm);

}  // namespace stagecraft
