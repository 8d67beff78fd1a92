// Asynchronous pipelines, which never flush: PipeDream (Narayanan et al., SOSP 2019),
// whose stages may have several replicas, and PipeDream-2BW (Narayanan et al., ICML 2021).
//
// `replicas` are those of each stage. Mini-batch b runs on replica b mod r of every stage
// of r replicas (1F1B-RR), which reduce the gradients of r mini-batches, one each, and
// then update their weights. Versions of a stage's weights count its updates from 0.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Which weights a mini-batch meets on its way.
enum class WeightSync {
  kStashing,  // in each stage the newest, kept for its backward
  kVertical   // in every stage those that hold what the first stage's newest held as the
              // mini-batch entered
};

// Mini-batches under way per replica of the first stage (PipeDream's NOAM).
int MiniBatchesUnderWay(std::span<const int> replicas);

// Of every replica of a stage, in the steady state.
struct StageAsynchrony {
  int warmup = 0;     // forwards before its first backward and the forward ahead of that
  int versions = 1;   // of the weights that it keeps
  int staleness = 0;  // most updates between a gradient's weights and those it is applied to
  int gradients = 1;  // buffers of gradients: 2 where one is reduced while the next adds up

  int InFlight() const { return warmup + 1; }  // mini-batches (2BW: micro-batches) at most
};
// With one replica a stage, n stages: stage s keeps n - s versions, and its gradients are
// n - 1 - s updates late; with vertical sync n and n - 1 in every stage.
StageAsynchrony AsynchronyOf(std::span<const int> replicas, int stage, WeightSync sync);

// Between two mini-batches in the steady state, where transfers and reductions hide
// behind passes: the longest (F + B) / r of any stage. A bound where replicas differ:
// rounds of different lengths wait for each other.
Duration SteadyPeriod(std::span<const PassTimes> stages, std::span<const int> replicas);

// The weights of a stage change once, on one of its replicas; positions in its passes.
struct WeightUpdate {
  int complete = 0;  // of the backward with which the gradients are complete
  int behind = 0;    // of the pass behind which the weights change
};

// The beginning of an order that goes on for ever.
struct EndlessOrder {
  PassOrder passes;           // the replica's own mini-batches (2BW: micro-batches), from 0
  std::vector<int> versions;  // by position in passes: of the weights that it uses
  std::vector<WeightUpdate> updates;
};

// 1F1B-RR of one replica, for the first `mini_batches` of all. Weights change behind
// every backward, but for those of a last round that not all replicas are in.
EndlessOrder PipeDreamOrder(std::span<const int> replicas, int stage, int replica, int mini_batches,
                            WeightSync sync);

// When a batch's gradients become weights: behind its last backward, or as late as they
// can, before the first forward that uses them; until then they can be reduced.
enum class BufferSwitch { kAtOnce, kWhenUsed };

// PipeDream-2BW: 1F1B through batches of `micro_batches` >= warmup each, an update for
// each batch. Batch t uses version t - 1 (the first two version 0) in every stage, so two
// versions are kept, and every gradient is one update late.
EndlessOrder DoubleBufferedOrder(int warmup, int micro_batches, int batches,
                                 BufferSwitch buffer_switch = BufferSwitch::kAtOnce);

// What is simulated of an endless order, in mini-batches (2BW: micro-batches) of all
// replicas, one after another.
struct Stretch {
  int settle = 0;    // until nothing is left of the start
  int measured = 0;  // of the steady state, in two halves
  int drain = 0;     // so that those measured have what follows them beside them

  int Total() const { return settle + measured + drain; }
};

// With R replicas in all stages: 16 R to settle, at least 8 R in each half, which are whole
// rounds of every stage (16,384 where these would be more), R and a round to drain.
Stretch PipeDreamStretch(std::span<const int> replicas);
// Of pipelines side by side that share batches of `micro_batches`: at least two batches, and
// 16 micro-batches of each for every stage, to settle; as many measured; two batches to
// drain.
Stretch DoubleBufferedStretch(int stages, int pipelines, int micro_batches);

}  // namespace stagecraft
