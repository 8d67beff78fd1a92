// PipeDreamPartition: the answer of PipeDream's optimizer, which cuts a network into stages over a
// hierarchy of machines and replicates them, so that the slowest is as fast as possible.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

// MachineLevel is one level: how many machines of the level below it joins, and the bandwidth
// between them.
struct MachineLevel {
  int machines = 1;
  Bandwidth bandwidth;
};

enum class PipeDreamRule {
  // optimizer_graph_hierarchical.py: a stage computes, then synchronizes.
  kCode,
  // The recurrence of the SOSP'19 paper: a stage does both at once, and transfers between stages
  // always count.
  kPaper,
};

struct PipeDreamOptions {
  std::vector<MachineLevel> levels;  // innermost first
  PipeDreamRule rule = PipeDreamRule::kCode;
  // For kCode: transfers between stages are divided by this; without a value they are free.
  std::optional<double> activation_compression = std::nullopt;
  bool straight = false;                       // no replication
  std::optional<Bytes> memory = std::nullopt;  // of a device; no value: unlimited
  bool use_fewer_machines = false;
};

// PipeDreamStage is a stage of one level. `inside` says how one machine of that level spreads it
// over the level below; empty at the innermost level.
struct PipeDreamStage {
  NodeSet nodes;  // of the graph
  int replicas = 1;
  std::vector<PipeDreamStage> inside;
};

struct PipeDreamPartition {
  // Seconds per minibatch of the slowest stage, divided by its replicas. Not a Duration: the
  // published figures have 16 digits. Infinity: nothing fits.
  double bottleneck_s = 0;
  std::vector<PipeDreamStage> stages;  // of the outermost level, in order
};

// Returns the partition with the least bottleneck; among equal ones the one with fewer stages, then
// with fewer machines, then the first in lexicographic order of (cut, replicas), level by level.
//
// Let a level have n machines with bandwidth B between them and q machines in each of these, and
// let states i..j have compute C and parameters P. Then one stage on r machines takes
//   kCode:  (C(i,j) + 4 (r-1) P / (B r) [/ q if it is the level's first]) / r
//   kPaper: max(C(i,j), 2 (r-1) P / B) / r
// and a cut behind state k costs 2 a_k / (B r) (kPaper: 2 a_k / B). The C of the next level is the
// best of this one on all n machines. Memory, kCode: a stage on r machines with m behind it keeps
// ceil(m / r) copies of parameters and activations. O(states^3 machines^2) for each level but the
// last, which takes O(states^2 machines^2).
//
// PipeDream's program (kCode) also combines states that no path joins, subtracting sums of which
// neither contains the other; that is not done here, and none of its published results depends on
// it.
//
// There is no result before the end; throws Stopped.
PipeDreamPartition SolvePipeDream(const AntichainStates& states, const PipeDreamOptions& options,
                                  const StopSign& stop = {});

// Returns the seconds per minibatch with every operator on every machine, by the rule of kCode.
double DataParallelSeconds(const AntichainStates& states, const std::vector<MachineLevel>& levels);

}  // namespace stagecraft
