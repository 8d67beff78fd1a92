// Pass orders: which passes each stage runs, one after another. All are pure functions of the
// pipeline's shape, with one family of schedules per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/pipeline/micro_batch_shares.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// The forward or backward pass of one micro-batch through one chunk. A backward is one pass, or
// two: its input gradients and, any time later, its weight gradients.
struct Pass {
  Phase phase = Phase::kForward;  // one for which IsPass() holds
  int16_t chunk = 0;
  int32_t micro_batch = 0;  // counted within those of the chunk's chain that this worker takes
  // The pass runs beside the one after it, which is of another chunk or micro-batch: both begin as
  // soon as both can, and hand on their outputs when both are done (DualPipe; Megatron-core's
  // overlap_moe_expert_parallel_comm).
  bool beside_next = false;
  friend bool operator==(const Pass&, const Pass&) = default;
};
using PassOrder = std::vector<Pass>;
using PassOrders = std::vector<PassOrder>;  // by stage

// GPipe (Huang et al., 2019): all forwards, then all backwards in reverse.
// Keeps every micro-batch in flight.
PassOrder GpipeOrder(int micro_batches);

// 1F1B with flush (PipeDream-Flush, DAPPLE, Megatron-LM): `warmup` forwards, then one forward and
// one backward in turn, then the remaining backwards. At most warmup + 1 micro-batches are in
// flight. A pipeline of p equal stages uses warmup = p - 1 - stage.
PassOrder OneForwardOneBackwardOrder(int warmup, int micro_batches);

// The same for stage r of p with forwards that run beside backwards: InterleavedOrder() with a
// single chunk and MicroBatchGroups::pairs_passes. A pair hands on its forward and its backward
// only when both are done, so each stage warms up by two forwards more than the next one: with one
// more, as without pairs, it would wait for as long as it works. Stage r has at most 2(p - r)
// micro-batches in flight, twice as many as without pairs.
PassOrder PairedOneForwardOneBackwardOrder(int stage, int stages, int micro_batches);

// Lets each forward of an order but the first `warmup` ones, with which it begins, run beside the
// backward after it.
void PairPasses(size_t warmup, PassOrder& order);

// The same for a replica that takes some of a pipeline's micro-batches: before the backward of
// micro-batch b it runs its forwards of all micro-batches below b + window. There is no deadlock if
// windows shrink from stage to stage, because a backward then waits only for lower micro-batches.
PassOrder OneForwardOneBackwardOrder(int window, const MicroBatchShares& shares, int replica);

// How far DAPPLE (Fan et al., PPoPP 2021) runs a stage's forwards ahead of its backwards:
// K = min(p - s, D) micro-batches, or min(2(p - s) - 1, D) if transfers take as long as passes.
// D >= 1 is the number that fits into memory.
enum class WarmupPolicy { kA, kB };
// Returns K - 1, the `warmup` of OneForwardOneBackwardOrder().
int DappleWarmup(int stage, int stages, int most_in_flight, WarmupPolicy policy);

// What an interleaved schedule does if there are just as many micro-batches as stages: the first
// Megatron-LM ran all forwards before any backward; Megatron-core warms up as with more
// micro-batches, and holds less.
enum class FewMicroBatches { kAllForward, kUsualWarmup };

// Interleaved 1F1B (Narayanan et al., SC21): stage r of p holds chunks r, r + p, ...; micro_batches
// must be a multiple of stages. It is also known as depth-first: groups of `stages` micro-batches
// go through one chunk after another.
PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           FewMicroBatches few = FewMicroBatches::kAllForward);

// How Megatron-core interleaves: groups of `size` micro-batches
// (microbatch_group_size_per_vp_stage) go through one chunk after another. Groups smaller than the
// pipeline can deadlock, so size must be >= stages; every such size runs. A last group smaller than
// the pipeline, which Megatron-core refuses because it can deadlock, joins the group before it.
struct MicroBatchGroups {
  int size = 0;
  // Warms up by one more forward, so that the messages of a forward can hide behind a backward
  // (overlap_moe_expert_parallel_comm).
  bool one_more_warmup = false;
  // Each forward after the warm-up runs beside the backward after it; needs one more warm-up, since
  // the two must not wait for each other.
  bool pairs_passes = false;
};

// The same for any number of micro-batches. With g the largest group, stage r of p
// has at most min(2(p - r - 1) + (chunks - 1) g + one_more_warmup + 1,
// chunks * micro_batches) passes in flight.
PassOrder InterleavedOrder(int stage, int stages, int chunks, int micro_batches,
                           const MicroBatchGroups& groups);

// Looped breadth-first (Lamy-Poirier, 2022; PyTorch's LoopedBFS): all micro-batches go through
// chunk 0, then all through chunk 1, and so on; backwards run in the reverse order. Keeps every
// micro-batch of every chunk in flight.
PassOrder BreadthFirstOrder(int chunks, int micro_batches);

// Returns the largest number of passes in flight (forward done, input gradients not done) at any
// time. With several chunks this counts chunks, not whole stages.
int PeakInFlight(const PassOrder& order);

}  // namespace stagecraft
