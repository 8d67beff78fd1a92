// DualPipe and DualPipeV (DeepSeek-V3, 2024; github.com/deepseek-ai/DualPipe, MIT): a forward of
// one direction runs beside a backward of the other, so that each hides the other's messages, and
// weight gradients fill the remaining idle time.
//
// If input gradients take as long as forwards, every stage waits (h - 1)(F&B + B - 3 W) in a step:
// h is half the stages of DualPipe or all stages of DualPipeV, F&B the time of a pair, B that of a
// whole backward, W that of its weight gradients. At most 2 h + 1 passes are in flight on a stage.
#pragma once

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Returns pass orders for ChunkMap::Bidirectional(stages). `stages` must be even, and micro_batches
// even and at least 2 * stages; half of them run in each direction.
PassOrders DualPipeOrders(int stages, int micro_batches);

// Returns pass orders for ChunkMap::Wave(stages, 2), one copy of the network cut in half.
// micro_batches must be at least 2 * stages.
PassOrders DualPipeVOrders(int stages, int micro_batches);

}  // namespace stagecraft
