// Zero-bubble orders: backwards in two passes, so that weight gradients, for which no
// other stage waits, fill the bubbles (Qi et al., "Zero Bubble Pipeline Parallelism",
// ICLR 2024, and "Pipeline Parallelism with Controllable Memory", NeurIPS 2024).
//
// Below F, B and W are the times of a forward, of input and of weight gradients; p
// stages, m micro-batches; any p >= 1 and m >= 1, also m < p. All are linear in p * m.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/pass_costs.h"
#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// ZB-H1: 1F1B whose stage s runs weight gradients s backwards late. Bubble
// (p - 1)(F + B - W); never holds more than p micro-batches, as 1F1B's first stage.
PassOrder ZeroBubbleH1Order(int stage, int stages, int micro_batches);

// ZB-H2: 2(p - s) - 1 forwards first, weight gradients 2s backwards late. A stage
// idles (p - 1)(F + B - 2W) between its first start and its last end, so never where
// the three times are equal; holds up to 2p micro-batches.
PassOrder ZeroBubbleH2Order(int stage, int stages, int micro_batches);

enum class ZeroBubbleSearch {
  kPublished,  // the eight runs of its authors, and 1F1B
  kThorough,   // and wider rules, H1, H2 and lower limits
};

// The scheduler with memory limit (ICLR 2024, section 4): the orders whose longest
// stage (OrderTimes::LongestStage) is the shortest found, among those then the ones
// of the lowest peak memory. Never slower than 1F1B within the same limits. `costs`
// has one chunk per stage; `memory` and `limits` are by stage, in one unit. Of more than
// 128 and 4p micro-batches rules are compared on that many, and the best few on all. Throws
// InputError where a limit is less than one micro-batch needs.
PassOrders AutomaticZeroBubbleOrders(const PipelineCosts& costs, int micro_batches,
                                     std::span<const PassMemory> memory,
                                     std::span<const int64_t> limits,
                                     ZeroBubbleSearch kind = ZeroBubbleSearch::kThorough);

// The others run two chunks on every stage, ChunkMap::Wave(p, 2): p >= 1.

// ZB-V, by a greedy scheduler: chunks of one `memory` each, of which a stage holds at
// most 2p, as much as 1F1B's first one. No stage idles where F, B and W are equal and
// m >= 2p. Twice the transfers of 1F1B: with few micro-batches and slow links it loses.
// Rules are compared on as many micro-batches as above.
PassOrders ZeroBubbleVOrders(const PipelineCosts& costs, int micro_batches,
                             const PassMemory& memory);

// Blocks of equal passes, one micro-batch every 6 slots, laid so that no stage holds more
// than p / 2 + 1, or p / 3 + 1, micro-batches. Weight gradients take the first free
// slots. Bubbles are about 1/2, and 2/3, of 1F1B's where times are equal.
PassOrders VHalfOrders(int stages, int micro_batches);
PassOrders VMinOrders(int stages, int micro_batches);

}  // namespace stagecraft
