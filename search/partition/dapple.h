// DAPPLE's planner: stages on sets of GPUs, for synchronous training with early backward passes.
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
  int micro_batches = 1;  // of a step; the profile is of one micro-batch
  // The defaults are the planner's own constants (AlibabaPAI/DAPPLE).
  Bandwidth inside = Bandwidth(25e9);
  Bandwidth between = Bandwidth(1e9);             // for one transfer
  Bandwidth between_collective = Bandwidth(3e9);  // for many at once
  std::optional<Bytes> memory = std::nullopt;     // of a GPU
};

// A stage, or the transfer between two stages, as the pipeline sees it.
struct DappleBlock {
  double forward_s = 0;
  double backward_s = 0;
  double all_reduce_s = 0;
};

// The time of one step: warm-up, steady state of the pivot, ending (Fan et al., "DAPPLE", PPoPP
// 2021). The pivot is the last element of the pipeline (stage or transfer), or an earlier one whose
// steady state outlasts it and what lies between. The ending is the latest all-reduce, each begun
// when the last backward pass of its element ends: for the pivot and the elements before it after
// the pivot's own, for those behind it before.
double DappleStepSeconds(std::span<const DappleBlock> blocks, int micro_batches);

struct DappleStage {
  NodeSet nodes;
  std::vector<int> devices;  // machine * devices_per_machine + place in it
  DappleBlock block;
  double transfer_s = 0;  // from the stage before, one way
  double memory_bytes = 0;
};

struct DapplePlan {
  double step_s = 0;
  double data_parallel_s = 0;  // a step with everything on every GPU
  std::vector<DappleStage> stages;
};

// For every state and number of GPUs taken of each machine, the stages of the least quick estimate:
// (micro_batches - 1) times the slowest element + all elements once + the most of all_reduce(i) - i
// times the slowest element, if positive. A stage takes its GPUs by one of three policies: from
// fresh machines first, from machines in use first, or one by one from all in turn. Among the
// complete plans, on however many GPUs, the one with the shortest step is returned. This is a
// heuristic, as published. Memory: a stage of p keeps weights and min(p - stage, micro_batches)
// micro-batches of activations, shared by its GPUs. No value if no plan that was found fits.
// O(states^2 (devices_per_machine + 1)^machines devices). If it is stopped, it returns the best
// plan so far; throws Stopped if none of these fits.
std::optional<DapplePlan> SolveDapple(const AntichainStates& states, const DappleOptions& options,
                                      const StopSign& stop = {});

// A lower bound of DappleStepSeconds() of any plan: all work on all GPUs at once.
double LeastDappleStepSeconds(const AntichainStates& states, const DappleOptions& options);

}  // namespace stagecraft
