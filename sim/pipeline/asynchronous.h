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
#include "sim/pipeline/order.h"
#include "sim/pipeline/pass_costs.h"

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
  int versions = 0;   // of the weights that it keeps
  int staleness = 0;  // most updates between a gradient's weights and those it is applied to
};
// With one replica a stage, n stages: stage s keeps n - s versions, and its gradients are
// n - 1 - s updates late; with vertical sync n and n - 1 in every stage.
StageAsynchrony AsynchronyOf(std::span<const int> replicas, int stage, WeightSync sync);

// Between two mini-batches in the steady state, where transfers and reductions hide
// behind passes: the longest (F + B) / r of any stage.
Duration SteadyPeriod(std::span<const PassTimes> stages, std::span<const int> replicas);

// A stretch of an order that goes on for ever, from its start.
struct EndlessOrder {
  PassOrder passes;           // the replica's own mini-batches (2BW: micro-batches), from 0
  std::vector<int> versions;  // by position in passes: of the weights that it uses
  std::vector<int> updates;   // positions of the passes behind which the weights change
};

// 1F1B-RR of one replica, for the first `mini_batches` of all.
EndlessOrder PipeDreamOrder(std::span<const int> replicas, int stage, int replica, int mini_batches,
                            WeightSync sync);

// PipeDream-2BW: 1F1B through batches of `micro_batches` >= warmup each, an update behind
// each batch. Batch t uses version t - 1 (the first two version 0) in every stage, so two
// versions are kept, and every gradient is one update late.
EndlessOrder DoubleBufferedOrder(int warmup, int micro_batches, int batches);

}  // namespace stagecraft
