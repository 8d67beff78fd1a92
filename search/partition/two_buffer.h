// PipeDream-2BW's planner: one pipeline of equal depth everywhere, copied; how
// deep, how wide, which micro-batch, recomputed or not?
#pragma once

#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/node_set.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

struct TwoBufferOptions {
  int devices = 1;      // depth times width
  Bandwidth bandwidth;  // between any two devices
  // Profiled minibatches of one batch, over all copies; what a step learns from.
  int batch = 1;
  // Largest micro-batch tried, in profiled minibatches; powers of two up to it.
  // Times and activations are taken to grow in proportion.
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
  // Profiled minibatches per second of all pipelines: the objective.
  double rate_per_s = 0;
  std::vector<TwoBufferStage> stages;
};

// Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training" (ICML
// 2021). Of all depths that divide `devices`, micro-batches b and recompute, the
// greatest b * width / t with
//   t = max over stages of max(e compute(b) + transfers(b), sync / m),
// e = 4/3 with recompute, sync a ring over the stage's copies, m micro-batches a
// batch; memory 2 W + A(b), or 2 W + A(b) + depth * input(b) with recompute,
// where A is one micro-batch's activations: the published formula, stage by
// stage. The cuts of a depth make the slowest stage's compute least, exactly.
// Ties: shallower, smaller micro-batch, no recompute. Nothing where no choice
// fits memory and batch. O(states^2 devices log devices) for the cuts.
// Stopped, it returns the best of the depths that it came to; throws Stopped where
// there is none yet.
std::optional<TwoBufferPlan> SolveTwoBuffer(const AntichainStates& states,
                                            const TwoBufferOptions& options,
                                            const StopSign& stop = {});

}  // namespace stagecraft
