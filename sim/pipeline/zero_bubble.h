// Zero-bubble schedules: backwards are split in two passes, so that weight gradients, for which no
// other stage waits, can fill the bubbles (Qi et al., "Zero Bubble Pipeline Parallelism", ICLR
// 2024, and "Pipeline Parallelism with Controllable Memory", NeurIPS 2024).
//
// Below, F, B and W are the times of a forward, of input gradients and of weight gradients; p is
// the number of stages and m that of micro-batches. Any p >= 1 and m >= 1 are possible, also m < p.
// All functions are linear in p * m.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// ZB-H1: 1F1B in which stage s runs weight gradients s backwards late. The bubble is
// (p - 1)(F + B - W); no stage ever holds more than p micro-batches, as many as 1F1B's first stage.
PassOrder ZeroBubbleH1Order(int stage, int stages, int micro_batches);

// ZB-H2: begins with 2(p - s) - 1 forwards, and runs weight gradients 2s backwards late. A stage
// idles (p - 1)(F + B - 2W) between its first start and its last end, so not at all if the three
// times are equal. It holds up to 2p micro-batches.
PassOrder ZeroBubbleH2Order(int stage, int stages, int micro_batches);

enum class ZeroBubbleSearch {
  kPublished,  // the eight runs of its authors, and 1F1B
  kThorough,   // in addition wider rules, H1, H2 and lower limits
};

// The scheduler with a memory limit (ICLR 2024, section 4). Returns the orders whose longest stage
// (OrderTimes::LongestStage) is the shortest found, and among those the ones with the lowest peak
// memory; they are never slower than 1F1B within the same limits. `costs` has one chunk per stage;
// `memory` and `limits` are by stage, in the same unit. If there are more than 128 and more than 4p
// micro-batches, rules are compared on the larger of these numbers, and only the best few on all.
// Throws InputError if a limit is less than one micro-batch needs.
PassOrders AutomaticZeroBubbleOrders(const PipelineCosts& costs, int micro_batches,
                                     std::span<const PassMemory> memory,
                                     std::span<const int64_t> limits,
                                     ZeroBubbleSearch kind = ZeroBubbleSearch::kThorough);

// The schedules below run two chunks on every stage, ChunkMap::Wave(p, 2), with p >= 1.

// ZB-V, by a greedy scheduler. Every chunk takes `memory`, and a stage holds at most 2p chunks, as
// much as the first stage of 1F1B. No stage idles if F, B and W are equal and m >= 2p. There are
// twice as many transfers as with 1F1B, so that it loses with few micro-batches and slow links.
// Rules are compared on as many micro-batches as above.
PassOrders ZeroBubbleVOrders(const PipelineCosts& costs, int micro_batches,
                             const PassMemory& memory);

// Blocks of equal passes, one micro-batch every 6 slots, placed so that no stage holds more than
// p / 2 + 1 (V-Half) or p / 3 + 1 (V-Min) micro-batches. Weight gradients take the first free
// slots. If the three times are equal, bubbles are about 1/2 and 2/3 of those of 1F1B.
PassOrders VHalfOrders(int stages, int micro_batches);
PassOrders VMinOrders(int stages, int micro_batches);

}  // namespace stagecraft
