// InterconnectSpec: the networks between nodes, as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/link.h"

namespace stagecraft {

enum class FabricKind {
  kSingleSwitch,   // one switch that never blocks
  kRailOptimised,  // a leaf per rail and run of nodes, spines above all leaves
  kFatTree,        // a leaf per run of nodes, spines above
};
const char* Name(FabricKind kind);

// What leads up from the switches of one tier: each of them has one link to each of `uplinks`
// switches of the tier above (in its pod, if that tier belongs to pods).
struct FabricTier {
  int uplinks = 0;
  Link up;  // of one link; its latency is what the hop adds to the nodes' own
  Link down;
  friend bool operator==(const FabricTier&, const FabricTier&) = default;
};

// One network. Its nodes are counted in rank order: consecutive nodes share a leaf, consecutive
// leaves a pod. Interface r of every node is rail r.
struct FabricSpec {
  std::string name = "fabric";
  FabricKind kind = FabricKind::kSingleSwitch;
  int nodes_per_leaf = 0;         // 0 for a single switch and uneven leaves
  std::vector<int> leaf_nodes;    // nodes of each leaf, if leaves are uneven
  int nodes_per_pod = 0;          // three tiers only; a multiple of nodes_per_leaf
  std::vector<FabricTier> tiers;  // above the leaves: one or, with pods, two
  friend bool operator==(const FabricSpec&, const FabricSpec&) = default;
};

// A cable between two fabrics; the spines or cores of both reach it without loss of bandwidth.
struct FabricJoin {
  int from = 0;  // index of a fabric
  int to = 0;
  Link there;  // from -> to
  Link back;
  friend bool operator==(const FabricJoin&, const FabricJoin&) = default;
};

struct InterconnectSpec {
  std::vector<FabricSpec> fabrics = {FabricSpec()};
  std::vector<FabricJoin> joins;
  uint64_t ecmp_seed = 0;  // for the choice among equal-cost routes
  friend bool operator==(const InterconnectSpec&, const InterconnectSpec&) = default;
};

// Returns whether one switch joins all nodes, as in every cluster whose file does not describe a
// network.
bool IsSingleSwitch(const InterconnectSpec& spec);

inline constexpr int kMaxFabrics = 64;
inline constexpr int kMaxUplinks = 1024;

// Returns every problem as "fabrics[1].key: got ..., want ..."; nothing if the spec can be built.
std::vector<std::string> FindErrors(const InterconnectSpec& spec);

}  // namespace stagecraft
