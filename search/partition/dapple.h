// DapplePlan: the stages, on sets of GPUs, of DAPPLE's planner for synchronous training with early
// backward passes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct DappleOptions {
  int machines = 1;
  int devices_per_machine = 8;
  int micro_batches = 1;  // of a training step; the profile is of one micro-batch
  // The defaults are the planner's own constants (AlibabaPAI/DAPPLE).
  Bandwidth inside = Bandwidth(25e9);
  Bandwidth between = Bandwidth(1e9);             // for one transfer
  Bandwidth between_collective = Bandwidth(3e9);  // for many at once
  std::optional<Bytes> memory = std::nullopt;     // of a GPU
};

// DappleBlock is an element of the pipeline: a stage, or the transfer between two stages.
struct DappleBlock {
  double forward_s = 0;
  double backward_s = 0;
  double all_reduce_s = 0;
};

// Returns the time of one training step: warm-up + steady state of the pivot + ending (Fan et al.,
// "DAPPLE", PPoPP 2021). The pivot is the last element of the pipeline (stage or transfer), or an
// earlier one whose steady state outlasts that of the pivot so far and what lies between. The
// ending lasts until the last all-reduce ends. The all-reduce of an element begins when its last
// backward pass ends: for the pivot and the elements before it that is after the steady state, for
// those behind it not.
double DappleStepSeconds(std::span<const DappleBlock> blocks, int micro_batches);

struct DappleStage {
  NodeSet nodes;
  std::vector<int> devices;  // machine * devices_per_machine + place in the machine
  DappleBlock block;
  double transfer_s = 0;  // from the stage before, one way
  double memory_bytes = 0;
};

struct DapplePlan {
  double step_s = 0;
  double data_parallel_s = 0;  // a training step with everything on every GPU
  std::vector<DappleStage> stages;
};

// For every state and number of GPUs taken of each machine, finds the stages for which a quick
// estimate is least: (micro_batches - 1) times the slowest element + all elements once + the
// greatest all_reduce(i) - i times the slowest element, if positive. A stage takes its GPUs by one
// of three policies: from unused machines first, from machines in use first, or one by one from all
// in turn. Among the complete plans, on however many GPUs, the one with the shortest step is
// returned. This is a heuristic, as published. Memory: of p stages, a stage keeps weights and min(p
// - stage, micro_batches) micro-batches of activations, shared by its GPUs. No value if no plan
// that was found fits. O(states^2 (devices_per_machine + 1)^machines devices). If it is stopped, it
// returns the best plan so far; throws Stopped if none of these fits.
std::optional<DapplePlan> SolveDapple(const AntichainStates& states, const DappleOptions& options,
                                      const StopSign& stop = {});

// Returns a lower bound of DappleStepSeconds() of any plan: all work shared evenly by all GPUs.
double LeastDappleStepSeconds(const AntichainStates& states, const DappleOptions& options);

}  // namespace stagecraft
