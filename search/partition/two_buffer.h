// TwoBufferPlan: the answer of PipeDream-2BW's planner, which replicates a whole pipeline and
// chooses its depth, its width, the micro-batch and recomputation.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct TwoBufferOptions {
  int devices = 1;      // depth * width
  Bandwidth bandwidth;  // between any two devices
  // Profiled minibatches of one global batch, over all replicas of the pipeline.
  int batch = 1;
  // The largest micro-batch, in profiled minibatches; powers of two up to it are tried. Times and
  // activations are assumed to grow in proportion.
  int most_per_micro_batch = 16;
  std::optional<Bytes> memory = std::nullopt;  // of a device
};

struct TwoBufferStage {
  NodeSet nodes;
  double time_s = 0;  // of one micro-batch: compute and transfers
  double memory_bytes = 0;
};

struct TwoBufferPlan {
  int depth = 1;
  int width = 1;
  int per_micro_batch = 1;  // profiled minibatches
  int micro_batches = 1;    // of a batch, in each pipeline; at least `depth`
  bool recompute = false;
  double period_s = 0;  // between micro-batches of a pipeline
  // The objective: profiled minibatches per second of all pipelines.
  double rate_per_s = 0;
  std::vector<TwoBufferStage> stages;
};

// Follows Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training" (ICML 2021). Among
// all depths that divide `devices`, micro-batches b and recomputation, maximises b * width / t with
//   t = max over stages of max(e compute(b) + transfers(b), sync / m),
// where e = 4/3 with recomputation, sync is a ring over the stage's replicas, and a batch has m
// micro-batches. Memory is 2 W + A(b), or 2 W + A(b) + depth * input(b) with recomputation, where A
// is the activations of one micro-batch: the published formula, stage by stage. The cuts of a depth
// minimise the slowest stage's compute, exactly. Among equal rates the shallower plan is returned,
// then the one with the smaller micro-batch, then the one without recomputation. No value if no
// choice fits memory and batch. O(states^2 devices log devices) for the cuts. If it is stopped, it
// returns the best plan of the depths so far; throws Stopped if there is none yet.
std::optional<TwoBufferPlan> SolveTwoBuffer(const AntichainStates& states,
                                            const TwoBufferOptions& options,
                                            const StopSign& stop = {});

}  // namespace stagecraft
