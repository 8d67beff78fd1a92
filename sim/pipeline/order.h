// Pipeline orders: which pass a stage runs when. Pure functions of the shape;
// one family per file.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/micro_batch_shares.h"
#include "sim/schedule.h"

namespace stagecraft {

// The forward or backward pass of one micro-batch through one chunk. A backward is
// one pass, or its input gradients and, any time later, its weight gradients.
struct Pass {
  Phase phase = Phase::kForward;  // IsPass()
  int16_t chunk = 0;
  int32_t micro_batch = 0;  // counted within the worker's own of the chunk's chain
  // Runs beside the pass after it, which is of another chunk: both begin when both
  // can, and hand on what they made when both are done (DualPipe).
  bool beside_next = false;
  friend bool operator==(const Pass&, const Pass&) = default;
};
using PassOrder = std::vector<Pass>;
using PipelineOrders = std::vector<PassOrder>;  // by stage

// GPipe (Huang et al., 2019): all forwards, then all backwards in reverse.
// Keeps every micro-batch in flight.
PassOrder GpipeOrder(int micro_batches);

// 1F1B with flush (PipeDream-Flush, DAPPLE, Megatron-LM): `warmup` forwards,
// then one forward and one backward in turn, then the remaining backwards. At
// most warmup + 1 micro-batches are in flight. A pipeline of p equal stages
// uses warmup = p - 1 - stage.
PassOrder OneForwardOneBackwardOrder(int warmup, int micro_batches);

// The same for a replica that takes some of a pipeline's micro-batches: before
// the backward of its micro-batch b it runs its forwards of all below
// b + window. No deadlock where windows shrink from stage to stage: a backward
// then waits for none but those of lower micro-batches.
PassOrder OneForwardOneBackwardOrder(int window, const MicroBatchShares& shares, int replica);

// What interleaving does where there are just as many micro-batches as stages:
// the first Megatron-LM ran every forward before any backward; Megatron-core
// warms up as it does with more of them, and holds less.
enum class FewMicroBatches { kAllForward, kUsualWarmup };

// Interleaved 1F1B (Narayanan et al., SC21): stage r of p holds chunks r,
// r + p, ...; micro_batches must be a multiple of stages.
PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           FewMicroBatches few = FewMicroBatches::kAllForward);

// Largest number of passes in flight (forward done, input gradients not) at any time.
// With chunks this counts chunks, not whole stages.
int PeakInFlight(const PassOrder& order);

}  // namespace stagecraft
