// Asynchronous pipelines, which never flush: PipeDream (Narayanan et al., SOSP 2019),
// whose stages may have several replicas, and PipeDream-2BW (Narayanan et al., ICML 2021).
//
// `replicas` holds the number of replicas of each stage. A stage of r replicas runs mini-batch b on
// replica b mod r (1F1B-RR); its replicas reduce the gradients of r mini-batches, one each, and
// then update their weights. Versions of a stage's weights are numbered by the updates before them,
// from 0.
#pragma once

#include <span>
#include <vector>

#include "costmodel/units.h"
#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// The weights that a mini-batch uses on its way.
enum class WeightSync {
  kStashing,  // in each stage the newest, which are kept for its backward
  kVertical   // in every stage those with the updates that the first stage's newest weights had
              // when the mini-batch entered
};

// Returns the mini-batches in flight per replica of the first stage (PipeDream's NOAM).
int MiniBatchesInFlight(std::span<const int> replicas);

// What holds for every replica of a stage in the steady state.
struct StageAsynchrony {
  int warmup = 0;     // forwards before its first backward and the forward just before that
  int versions = 1;   // of the weights that it keeps
  int staleness = 0;  // most updates between the weights of a gradient and those that it changes
  int gradients = 1;  // buffers of gradients: 2 if one is reduced while the next accumulates

  int InFlight() const { return warmup + 1; }  // mini-batches (2BW: micro-batches) at most
};
// In a pipeline of n stages with one replica each, stage s keeps n - s versions, and its gradients
// are n - 1 - s updates late; with vertical sync these are n and n - 1 in every stage.
StageAsynchrony AsynchronyOf(std::span<const int> replicas, int stage, WeightSync sync);

// Returns the time between two mini-batches in the steady state, if transfers and reductions hide
// behind passes: the longest (F + B) / r of any stage. If stages have different numbers of replicas
// this is a lower bound, because rounds of different lengths wait for each other.
Duration SteadyPeriod(std::span<const PassTimes> stages, std::span<const int> replicas);

// One change of a stage's weights on one of its replicas, as positions in the replica's passes.
struct WeightUpdate {
  int complete = 0;  // the backward that completes the gradients
  int behind = 0;    // the pass after which the weights change
};

// The beginning of a pass order that never ends.
struct EndlessOrder {
  PassOrder passes;           // the replica's own mini-batches (2BW: micro-batches), from 0
  std::vector<int> versions;  // of the weights that each pass uses, by position in passes
  std::vector<WeightUpdate> updates;
};

// Returns the 1F1B-RR order of one replica for the first `mini_batches` of all. Weights change
// after every backward, except those of a last round in which not all replicas take part.
EndlessOrder PipeDreamOrder(std::span<const int> replicas, int stage, int replica, int mini_batches,
                            WeightSync sync);

// When the gradients of a batch change the weights: right after its last backward, or as late as
// possible, before the first forward that uses the new weights. Until then the gradients can be
// reduced.
enum class BufferSwitch { kAtOnce, kWhenUsed };

// Returns the order of PipeDream-2BW: 1F1B through batches of `micro_batches` >= warmup each, with
// an update for each batch. Batch t uses version t - 1 (the first two use version 0) in every
// stage, so two versions are kept, and every gradient is one update late.
EndlessOrder DoubleBufferedOrder(int warmup, int micro_batches, int batches,
                                 BufferSwitch buffer_switch = BufferSwitch::kAtOnce);

// The part of an endless order that is simulated, in mini-batches (2BW: micro-batches) of all
// replicas: three spans, one after another.
struct Stretch {
  int settle = 0;    // until the start has no effect any more
  int measured = 0;  // of the steady state, in two halves
  int drain = 0;     // so that what would follow the measured ones runs beside them

  int Total() const { return settle + measured + drain; }
};

// With R replicas in all stages together: 16 R to settle, at least 8 R in each measured half, which
// consists of whole rounds of every stage (of 16,384 if whole rounds would take more), and R and
// one round to drain.
Stretch PipeDreamStretch(std::span<const int> replicas);
// For pipelines side by side that share batches of `micro_batches`: to settle, at least two batches
// and at least 16 micro-batches for every stage of each pipeline; as many measured; two batches to
// drain.
Stretch DoubleBufferedStretch(int stages, int pipelines, int micro_batches);

}  // namespace stagecraft
