// PipeDream's optimizer: cuts a network into stages over a hierarchy of
// machines, replicates stages, and makes the slowest as fast as it can be.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

// Of one level: how many machines of the level below it joins, and how fast
// they talk to each other.
struct MachineLevel {
  int machines = 1;
  Bandwidth bandwidth;
};

enum class PipeDreamRule {
  // optimizer_graph_hierarchical.py: a stage computes, then synchronizes.
  kCode,
  // The recurrence of the SOSP'19 paper: it does both at once, and transfers
  // between stages always count.
  kPaper,
};

struct PipeDreamOptions {
  std::vector<MachineLevel> levels;  // innermost first
  PipeDreamRule rule = PipeDreamRule::kCode;
  // kCode: transfers between stages are divided by it; without, they are free.
  std::optional<double> activation_compression = std::nullopt;
  bool straight = false;                       // no replication
  std::optional<Bytes> memory = std::nullopt;  // of a device; without, it is never short
  bool use_fewer_machines = false;
};

// A stage of one level. `inside`: how one machine of that level spreads it over
// the level below; at the innermost level empty.
struct PipeDreamStage {
  NodeSet nodes;  // of the graph
  int replicas = 1;
  std::vector<PipeDreamStage> inside;
};

struct PipeDreamPartition {
  // Seconds per minibatch of the slowest stage, replicas counted. Not a
  // Duration: the published figures have 16 digits. Infinity: nothing fits.
  double bottleneck_s = 0;
  std::vector<PipeDreamStage> stages;  // of the outermost level, in order
};

// Among partitions of the same bottleneck: fewer stages, then fewer machines,
// then the first in lexicographic order of (cut, replicas), level by level.
//
// Level l with n machines of bandwidth B, over states i..j of compute C,
// parameters P; q machines in the level below. One stage on r machines:
//   kCode:  (C(i,j) + 4 (r-1) P / (B r) [/ q if it is the level's first]) / r
//   kPaper: max(C(i,j), 2 (r-1) P / B) / r
// and a cut behind state k costs 2 a_k / (B r) (kPaper: 2 a_k / B). C of the
// next level is the best of this one on all n machines. Memory, kCode: a stage
// on r machines with m behind it keeps ceil(m / r) copies of parameters and
// activations. O(states^3 machines^2) per level but the last, which takes
// O(states^2 machines^2).
//
// kCode's own program also combines states that no path joins, by subtracting
// sums that do not contain each other; that is not done here, and none of its
// published results depends on it.
//
// Nothing is known before all is: throws Stopped.
PipeDreamPartition SolvePipeDream(const AntichainStates& states, const PipeDreamOptions& options,
                                  const StopSign& stop = {});

// Seconds per minibatch with every operator on every machine, kCode's rule.
double DataParallelSeconds(const AntichainStates& states, const std::vector<MachineLevel>& levels);

}  // namespace stagecraft
