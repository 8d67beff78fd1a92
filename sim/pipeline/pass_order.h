// Pipeline orders: which pass a stage runs when. Pure functions of the shape;
// one family per file.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/pipeline/micro_batch_shares.h"
#include "sim/schedule/schedule.h"

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
using PassOrders = std::vector<PassOrder>;  // by stage

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

// How far ahead of its backwards DAPPLE (Fan et al., PPoPP 2021) runs a stage's
// forwards: K = min(p - s, D) micro-batches, or min(2(p - s) - 1, D) where transfers
// take as long as passes; D >= 1 is what memory allows.
enum class WarmupPolicy { kA, kB };
// K - 1: the `warmup` of OneForwardOneBackwardOrder().
int DappleWarmup(int stage, int stages, int most_in_flight, WarmupPolicy policy);

// What interleaving does where there are just as many micro-batches as stages:
// the first Megatron-LM ran every forward before any backward; Megatron-core
// warms up as it does with more of them, and holds less.
enum class FewMicroBatches { kAllForward, kUsualWarmup };

// Interleaved 1F1B (Narayanan et al., SC21): stage r of p holds chunks r,
// r + p, ...; micro_batches must be a multiple of stages. Also what others call
// depth-first: groups of `stages` micro-batches go through one chunk after another.
PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           FewMicroBatches few = FewMicroBatches::kAllForward);

// How Megatron-core interleaves: groups of `size` micro-batches
// (microbatch_group_size_per_vp_stage) go through one chunk after another. Groups
// smaller than the pipeline can deadlock, so size >= stages; every such size runs. A
// last group smaller than the pipeline, which Megatron-core refuses because it can
// deadlock, joins the group before it.
struct MicroBatchGroups {
  int size = 0;
  // One forward earlier, so that a forward's messages have a backward to hide beside
  // (overlap_moe_expert_parallel_comm).
  bool one_more_warmup = false;
};

// The same for any number of micro-batches. With g the largest group, stage r of p
// has at most min(2(p - r - 1) + (chunks - 1) g + one_more_warmup + 1,
// chunks * micro_batches) passes in flight.
PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           const MicroBatchGroups& groups);

// Looped breadth-first (Lamy-Poirier, 2022; PyTorch's LoopedBFS): all micro-batches
// through chunk 0, then all through chunk 1, ...; the backwards the other way round.
// Keeps every micro-batch of every chunk in flight.
PassOrder BreadthFirstOrder(int chunks, int micro_batches);

// Largest number of passes in flight (forward done, input gradients not) at any time.
// With chunks this counts chunks, not whole stages.
int PeakInFlight(const PassOrder& order);

}  // namespace stagecraft
